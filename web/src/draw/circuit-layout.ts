/** Places of switches in the picture of a tree: in rows by tier, pod beside pod, or in a ring. */

export interface SwitchBox {
  /** The switch, the pod, or the first of several. */
  name: string;
  /** The last of several leaves or pods. */
  last?: string;
  /** The tier of its row: 1 for leaves. */
  tier: number;
  /** The pod in whose frame it stands. */
  pod?: number;
  /** How many switches it stands for, and how many leaves among them. */
  switches: number;
  leaves: number;
  hosts: number;
}

/** A ring of leaves, a row for each tier, or a row of pods below one box for each tier above them. */
export type Shape = "ring" | "tree" | "layers";

/** The middle of a box, its size, and its row from 0 for the highest tier. */
export interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
  row: number;
}

export interface Frame {
  name: string;
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Placement {
  boxes: Placed[];
  /** Around pods, where there are several and their switches are drawn one by one. */
  frames: Frame[];
  /** The middle of a ring. */
  ring?: [number, number];
  rows: number;
  width: number;
  /** Down to the lower edge of the lowest boxes. */
  height: number;
}

/** Between two tiers. */
const STEP = 96;
/** A box that most names do not fit. */
const NARROW = 38;
/** Height of boxes whose names are written upright. */
const UPRIGHT = 50;
/** Between the edge of the picture and the drawing, where a pod has its frame. */
const MARGIN = 10;

export function arrange(shape: Shape, boxes: readonly SwitchBox[], width: number): Placement {
  switch (shape) {
    case "ring":
      return ring(boxes, width);
    case "tree":
      return tree(boxes, width);
    case "layers":
      return layers(boxes, width);
  }
}

const between = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** All boxes on an ellipse, beginning at its top. */
function ring(boxes: readonly SwitchBox[], width: number): Placement {
  const count = Math.max(boxes.length, 1);
  // Boxes of 54 with some room between them.
  const down = between((count * 64) / (2 * Math.PI), 110, 400);
  const across = Math.min(width / 2 - 45, down * 1.28);
  const wide = Math.min(54, 0.85 * across * Math.sin((2 * Math.PI) / Math.max(count, 4)));
  const centre: [number, number] = [width / 2, down + 20];
  const placed = boxes.map((_, at) => {
    const angle = (at / count) * 2 * Math.PI;
    return { x: centre[0] + across * Math.sin(angle), y: centre[1] - down * Math.cos(angle), width: wide, height: 28, row: 0 };
  });
  return { boxes: placed, frames: [], ring: centre, rows: 1, width, height: 2 * down + 40 };
}

/** The tiers of boxes, the highest first. */
const tiersOf = (boxes: readonly SwitchBox[]): number[] => [...new Set(boxes.map((box) => box.tier))].sort((a, b) => b - a);

interface Pod {
  pod: number | undefined;
  places: number[];
}

/** The boxes below the highest tier, pod by pod. */
function podsOf(boxes: readonly SwitchBox[], top: number): Pod[] {
  const pods = new Map<number | undefined, number[]>();
  boxes.forEach((box, at) => {
    if (box.tier === top) return;
    const places = pods.get(box.pod) ?? [];
    pods.set(box.pod, places);
    places.push(at);
  });
  return [...pods].map(([pod, places]) => ({ pod, places })).sort((a, b) => (a.pod ?? -1) - (b.pod ?? -1));
}

/** Every switch by itself: a row for each tier, pods beside each other, the highest tier over all of them. */
function tree(boxes: readonly SwitchBox[], width: number): Placement {
  const tiers = tiersOf(boxes);
  const [top = 1, second = top] = tiers;
  const level = (tier: number): number => 26 + tiers.indexOf(tier) * STEP;
  const placed: Placed[] = boxes.map(() => ({ x: 0, y: 0, width: 0, height: 0, row: 0 }));
  const put = (places: readonly number[], left: number, span: number, slot: number) => {
    places.forEach((at, place) => {
      const box = boxes[at];
      if (!box) return;
      const wide = Math.min(slot * 0.82, 72);
      const high = box.hosts === 0 ? 22 : wide < NARROW ? UPRIGHT : 30;
      placed[at] = { x: left + ((place + 0.5) / places.length) * span, y: level(box.tier), width: wide, height: high, row: tiers.indexOf(box.tier) };
    });
  };
  const of = (places: readonly number[], tier: number): number[] => places.filter((at) => boxes[at]?.tier === tier);
  const pods = podsOf(boxes, top);
  const lower = tiers.slice(1);
  // A pod is as wide as its widest tier, and half a box is left between two.
  const slots = ({ places }: Pod): number => Math.max(1, ...lower.map((tier) => of(places, tier).length));
  const gap = pods.length > 1 ? 0.5 : 0;
  const total = pods.reduce((sum, pod) => sum + slots(pod) + gap, 0) - gap;
  const slot = (width - 2 * MARGIN) / Math.max(total, 1);
  const frames: Frame[] = [];
  let left = MARGIN;
  for (const pod of pods) {
    const span = slots(pod) * slot;
    for (const tier of lower) put(of(pod.places, tier), left, span, slot);
    if (pod.pod !== undefined && pods.length > 1) {
      const above = level(second) - 18;
      frames.push({ name: `pod ${pod.pod}`, left: left - 4, top: above, width: span + 8, height: level(1) + 30 - above });
    }
    left += span + gap * slot;
  }
  const highest = of(boxes.map((_, at) => at), top);
  const whole = width - 2 * MARGIN;
  put(highest, MARGIN, whole, whole / Math.max(highest.length, 1));
  return { boxes: placed, frames, rows: tiers.length, width, height: 26 + (tiers.length - 1) * STEP + 32 };
}

/** A box for each pod or group of leaves in one row, below one box for each tier above them. */
function layers(boxes: readonly SwitchBox[], width: number): Placement {
  const tiers = tiersOf(boxes);
  const lowest = tiers.length - 1;
  const groups = boxes.flatMap((box, at) => (tiers.indexOf(box.tier) === lowest ? [at] : []));
  const slot = (width - 2 * MARGIN) / Math.max(groups.length, 1);
  const wide = Math.min(slot * 0.8, 110);
  const y = 36 + lowest * STEP;
  const placed = boxes.map((box, at) => {
    const row = tiers.indexOf(box.tier);
    if (row < lowest) return { x: width / 2, y: 26 + row * STEP, width: width - 2 * MARGIN, height: 26, row };
    return { x: MARGIN + (groups.indexOf(at) + 0.5) * slot, y, width: wide, height: wide < NARROW ? UPRIGHT : 36, row };
  });
  return { boxes: placed, frames: [], rows: tiers.length, width, height: y + UPRIGHT / 2 + 2 };
}
