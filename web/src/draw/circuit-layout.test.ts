import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { arrange, type Placement, type SwitchBox } from "./circuit-layout";

const box = (name: string, tier: number, more: Partial<SwitchBox> = {}): SwitchBox => ({
  name,
  tier,
  switches: 1,
  leaves: tier === 1 ? 1 : 0,
  hosts: tier === 1 ? 1 : 0,
  ...more,
});

const times = (count: number, make: (at: number) => SwitchBox): SwitchBox[] => Array.from({ length: count }, (_, at) => make(at));

/** Leaves and aggregation switches of each pod, then the cores, as a report has them. */
function fatTree(pods: number, leaves: number, aggs: number, cores: number): SwitchBox[] {
  const inPods = Array.from({ length: pods }, (_, pod) => [
    ...times(leaves, (at) => box(`pod${pod}/leaf${at}`, 1, { pod })),
    ...times(aggs, (at) => box(`pod${pod}/agg${at}`, 2, { pod })),
  ]);
  return [...inPods.flat(), ...times(cores, (at) => box(`core${at}`, 3))];
}

function check(placement: Placement): void {
  const edges = placement.boxes.map(({ x, y, width, height }) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 }));
  edges.forEach((one, at) => {
    assert.ok(one.right > one.left && one.left >= 0 && one.right <= placement.width, `box ${at} of ${placement.width}`);
    assert.ok(one.top >= 0 && one.bottom <= placement.height, `box ${at} of ${placement.height}`);
    edges.slice(at + 1).forEach((other, more) => {
      const apart = other.left >= one.right || other.right <= one.left || other.top >= one.bottom || other.bottom <= one.top;
      assert.ok(apart, `boxes ${at} and ${at + 1 + more} at ${placement.width}`);
    });
  });
}

const WIDTHS = [340, 540, 800, 1116];

describe("the layout of a tree", () => {
  it("covers no box with another", () => {
    for (const [pods, leaves, aggs, cores] of [[4, 2, 2, 4], [8, 4, 4, 16], [1, 1, 1, 1], [16, 2, 2, 1]] as const) {
      const boxes = fatTree(pods, leaves, aggs, cores);
      for (const width of WIDTHS) {
        const placement = arrange("tree", boxes, width);
        check(placement);
        assert.equal(placement.boxes.length, boxes.length);
        assert.equal(placement.rows, 3);
        assert.equal(placement.frames.length, pods > 1 ? pods : 0);
      }
    }
  });

  it("puts each pod in its frame, below the highest tier", () => {
    const boxes = fatTree(4, 2, 2, 4);
    const placement = arrange("tree", boxes, 540);
    placement.boxes.forEach((placed, at) => {
      const { pod, tier } = boxes[at] as SwitchBox;
      assert.equal(placed.row, 3 - tier);
      for (const frame of placement.frames) {
        const inside = Math.abs(placed.x - frame.left - frame.width / 2) < frame.width / 2 && placed.y > frame.top && placed.y < frame.top + frame.height;
        assert.equal(inside, frame.name === `pod ${pod}`);
      }
    });
  });

  it("has a box for each pod of a large one, below the tiers above", () => {
    for (const pods of [8, 34]) {
      const boxes = [box("8 core switches", 3, { switches: 8 }), ...times(pods, (at) => box(`pod ${at}`, 1, { switches: 12, leaves: 8, hosts: 8 }))];
      for (const width of WIDTHS) {
        const placement = arrange("layers", boxes, width);
        check(placement);
        assert.equal(placement.rows, 2);
        assert.deepEqual(placement.boxes.map((one) => one.row), [0, ...times(pods, () => box("", 1)).map(() => 1)]);
      }
    }
  });

  it("makes a ring of leaves alone", () => {
    for (const leaves of [2, 8, 32, 34, 40]) {
      for (const width of WIDTHS) {
        const placement = arrange("ring", times(leaves, (at) => box(`leaf${at}`, 1)), width);
        assert.ok(placement.ring);
        check(placement);
      }
    }
  });
});
