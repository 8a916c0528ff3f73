import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Bundle, type CircuitPicture, circuits } from "./circuits";
import { keyed } from "./keys";
import { LIGHT } from "./theme";

const leaf = (at: number) => ({ name: `pod${at >> 1}/leaf${at}`, tier: 1, pod: at >> 1, switches: 1, leaves: 1, hosts: 4 });
const agg = (at: number) => ({ name: `pod${at}/agg${at}`, tier: 2, pod: at, switches: 1, leaves: 0, hosts: 0 });
const link = (a: number, b: number, more: Partial<Bundle> = {}): Bundle => ({
  ends: [a, b],
  kind: "cable",
  count: 1,
  rate_bps: 1e11,
  busy: [0.25, 0.5],
  bytes: [1024, 2048],
  ...more,
});

/** Two pods of two leaves below a core, and a circuit between leaves of both pods. */
const STEERED: CircuitPicture = {
  title: "the tree and its circuits",
  shape: "tree",
  boxes: [leaf(0), leaf(1), agg(0), { ...leaf(2), dark: 2 }, leaf(3), agg(1), { name: "core<0>", tier: 3, switches: 1, leaves: 0, hosts: 0 }],
  bundles: [link(0, 2), link(1, 2, { busy: null }), link(3, 5, { count: 3 }), link(4, 5), link(2, 6), link(5, 6), link(1, 3, { kind: "moved" })],
  full: 0.5,
  most: 3,
};

describe("the picture of circuits", () => {
  const drawing = circuits(STEERED, 540, LIGHT);

  it("has each link in the colour of its load and as thick as there are links", () => {
    const links = [...drawing.svg.matchAll(/<path class="(\w+)" d="([^"]*)" fill="none" stroke="([^"]*)" stroke-width="([^"]*)"( stroke-dasharray="6 3")?/g)];
    assert.deepEqual(links.map(([, kind]) => kind), ["cable", "cable", "cable", "cable", "cable", "cable", "moved"]);
    const [full, unknown] = ["rgb(125 10 37)", LIGHT.series[7]];
    assert.deepEqual(links.map((found) => found[3]), [full, unknown, full, full, full, full, full]);
    assert.deepEqual(links.map((found) => Number(found[4])), [1.6, 1.6, 3.8, 1.6, 1.6, 1.6, 1.6]);
    assert.deepEqual(links.map((found) => found[5] !== undefined), [false, false, false, false, false, false, true]);
    assert.match(links[6]?.[2] ?? "", /^M[\d. ]+C/, "an arc below its leaves");
    assert.equal(drawing.svg.match(/class="dark"/g)?.length, 1);
    assert.ok(drawing.svg.includes("core&lt;0&gt;") && !drawing.svg.includes("<0>"));
  });

  it("says under the pointer what a link, a box and dark ports are", () => {
    const said = (index: number) => {
      const { x = 0, y = 0 } = drawing.stops?.()[index] ?? {};
      return drawing.hover?.(x, y)?.text;
    };
    // The last link is the arc, whose lowest point hangs free.
    assert.equal(
      said(6),
      "pod0/leaf1 – pod1/leaf2\n1 circuit, moved here, 100\u00a0Gb/s\npod0/leaf1 → pod1/leaf2: 25 % busy, 1\u00a0KiB\npod1/leaf2 → pod0/leaf1: 50 % busy, 2\u00a0KiB",
    );
    assert.match(said(2) ?? "", /^pod1\/leaf2 – pod1\/agg1\n3 cables, /);
    assert.equal(said(1), "pod0/leaf1 – pod0/agg0\n1 cable, 100\u00a0Gb/s");
    assert.equal(said(7), "pod0/leaf0\n4 hosts");
    const dark = drawing.stops?.().find((stop) => stop.text.includes("dark"));
    assert.equal(dark?.text, "pod1/leaf2\n2 dark ports");
    assert.equal(drawing.hover?.(dark.x, dark.y)?.text, dark.text);
    assert.equal(drawing.hover?.(2, 2), null);
  });

  it("goes by keys through all links and boxes", () => {
    let at = { x: 0, y: 0 };
    const texts = new Set<string>();
    for (let step = 0; step < 20; step += 1) {
      const to = keyed(drawing, at, "ArrowRight", false);
      assert.ok(to?.text);
      texts.add(to.text);
      at = to;
    }
    // Seven links, seven boxes, and one count of dark ports.
    assert.equal(texts.size, 15);
    assert.match(keyed(drawing, at, "End", false)?.text ?? "", /^core/);
  });

  it("keeps everything within its edges, whatever the width and shape", () => {
    const pods = Array.from({ length: 12 }, (_, at) => ({ name: `pod ${at}`, last: `pod ${at}b`, tier: 1, switches: 8, leaves: 6, hosts: 24, inner: link(0, 0) }));
    const layers: CircuitPicture = {
      ...STEERED,
      shape: "layers",
      boxes: [{ name: "16 core switches", tier: 3, switches: 16, leaves: 0, hosts: 0 }, ...pods],
      bundles: [...pods.map((_, at) => link(0, at + 1, { count: 8 })), link(1, 12, { kind: "moved", count: 2 })],
    };
    const ring: CircuitPicture = { ...STEERED, shape: "ring", boxes: Array.from({ length: 9 }, (_, at) => leaf(at)), bundles: [link(0, 4), link(8, 0)] };
    for (const picture of [STEERED, layers, ring]) {
      for (const width of [360, 540, 1116]) {
        const { svg, height, stops } = circuits(picture, width, LIGHT);
        assert.ok(!svg.includes("NaN"), svg);
        for (const { x, y } of stops?.() ?? []) assert.ok(x >= 0 && x <= width && y >= 0 && y <= height, `${x} ${y} of ${width} ${height}`);
        // Numbers of links are written where a box stands for several switches.
        assert.equal((svg.match(/>8<\/text>/g) ?? []).length, picture === layers ? 12 : 0);
      }
    }
    const said = circuits(layers, 1116, LIGHT).stops?.()[14]?.text;
    assert.equal(said, "pod 0 to pod 0b\n6 leaves\n24 hosts\n1 link within\nlower → upper: 25 % busy, 1\u00a0KiB\nupper → lower: 50 % busy, 2\u00a0KiB");
  });
});
