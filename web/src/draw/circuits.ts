/** The picture of a tree with its circuits: boxes, and links coloured by load. */
import { arrange, type Frame, type Placed, type Placement, type Shape, type SwitchBox } from "./circuit-layout";
import { percent, plain, withUnit } from "./numbers";
import { loadRamp } from "./ramp";
import { document, type Drawing, type Hover, round, text, textWidth } from "./svg";
import { css, loadColour, type Theme } from "./theme";

/** What links carry together. */
export interface Carried {
  count: number;
  /** The line rate of all of them, one way. */
  rate_bps: number;
  /** The share of their capacity from the first end to the second, and back; null where nobody knows. */
  busy: [number, number] | null;
  bytes: [number, number];
}

export interface CircuitBox extends SwitchBox {
  /** Ports without a circuit. */
  dark?: number;
  /** Links between the switches of the box: upwards, and back. */
  inner?: Carried;
}

/** All links of one kind between two boxes. */
export interface Bundle extends Carried {
  /** Places of the boxes. */
  ends: [number, number];
  /** A cable, a circuit, or one that does not lead where the cable of the tree would. */
  kind: "cable" | "circuit" | "moved";
}

export interface CircuitPicture {
  title: string;
  shape: Shape;
  boxes: CircuitBox[];
  /** The busiest last, and so above the others. */
  bundles: Bundle[];
  /** The share of its capacity at which a link has the full colour; pictures side by side share it. */
  full: number;
  /** The most links that are drawn as one in any of the pictures side by side. */
  most: number;
}

type Point = [number, number];

/** The course of a link, also as short straight pieces. */
interface Course {
  path: string;
  middle: Point;
  points: Point[];
}

/** A mark, the place at which keys stop, and whether a point is on it. */
interface Mark {
  at: Hover;
  away: (x: number, y: number) => number;
}

const NOWHERE: Placed = { x: 0, y: 0, width: 0, height: 0, row: 0 };
/** So many pixels beside a link still count as on it. */
const CLOSE = 5;

/** Names of a box, in the order of preference. */
function namesOf(box: SwitchBox): string[] {
  // Within its frame the end of its name identifies a switch.
  const end = box.name.includes("/") ? [box.name.slice(box.name.lastIndexOf("/") + 1)] : [];
  return [box.last === undefined ? box.name : `${box.name} …`, ...end];
}

export const nameOf = (box: CircuitBox | undefined): string => (box ? (namesOf(box)[0] ?? "") : "");

function sayBusy(carried: Carried, from: string, to: string): string[] {
  const { busy, bytes } = carried;
  if (!busy) return [];
  return [
    `${from} → ${to}: ${percent(busy[0])} busy, ${withUnit(bytes[0], "bytes", 3)}`,
    `${to} → ${from}: ${percent(busy[1])} busy, ${withUnit(bytes[1], "bytes", 3)}`,
  ];
}

/** What is said of a bundle. */
function sayBundle(picture: CircuitPicture, bundle: Bundle): string {
  const [a, b] = bundle.ends.map((end) => nameOf(picture.boxes[end])) as [string, string];
  const what = (bundle.kind === "cable" ? "cable" : "circuit") + (bundle.count === 1 ? "" : "s");
  const moved = bundle.kind === "moved" ? ", moved here" : "";
  return [`${a} – ${b}`, `${plain(bundle.count)} ${what}${moved}, ${withUnit(bundle.rate_bps, "bit/s")}`, ...sayBusy(bundle, a, b)].join("\n");
}

/** What is said of a box. */
function sayBox(box: CircuitBox): string {
  const lines = [box.last === undefined ? box.name : `${box.name} to ${box.last}`];
  if (box.switches > 1 && box.leaves > 0) lines.push(`${plain(box.leaves)} leaves`);
  if (box.hosts > 0) lines.push(`${plain(box.hosts)} ${box.hosts === 1 ? "host" : "hosts"}`);
  if (box.inner) lines.push(`${plain(box.inner.count)} ${box.inner.count === 1 ? "link" : "links"} within`, ...sayBusy(box.inner, "lower", "upper"));
  return lines.join("\n");
}

/** The places of both ends of each bundle along their boxes, from the left of the picture. */
function attached(bundles: readonly Bundle[], boxes: readonly Placed[]): [number, number][] {
  const sides = new Map<string, { by: number; bundle: number; end: 0 | 1; box: Placed }[]>();
  bundles.forEach(({ ends }, bundle) => {
    for (const end of [0, 1] as const) {
      const [own, other] = [boxes[ends[end]] ?? NOWHERE, boxes[ends[1 - end] as number] ?? NOWHERE];
      const by = other.x - own.x;
      // Arcs of one box do not cross if the far ones start in its middle: to the left the near ones first, then the far
      // ones, to the right the other way.
      const order = own.row === other.row ? -1 / by : by;
      const key = `${ends[end]} ${Math.sign(own.row - other.row)}`;
      const side = sides.get(key) ?? [];
      sides.set(key, side);
      side.push({ by: order, bundle, end, box: own });
    }
  });
  const found = bundles.map((): [number, number] => [0, 0]);
  for (const side of sides.values()) {
    side.sort((a, b) => a.by - b.by);
    side.forEach(({ by, bundle, end, box }, at) => {
      const share = (at + 0.5) / side.length - 0.5;
      // Of a box for a whole tier straight above the other end.
      (found[bundle] as [number, number])[end] = box.width > 200 ? box.x + by : box.x + share * 0.76 * box.width;
    });
  }
  return found;
}

/** The depth of an arc below its boxes: the longer, the deeper. */
function reach(a: Placed, b: Placed, rows: number): number {
  const deep = 14 + 0.17 * Math.abs(a.x - b.x);
  return a.row + 1 < rows ? Math.min(deep, 34) : deep;
}

const STEPS = 24;
/** The room for the scale of colours, in pixels. */
const SCALE = 24;

const along = (point: (share: number) => Point): Point[] => Array.from({ length: STEPS + 1 }, (_, at) => point(at / STEPS));

const at = ([x, y]: Point): string => `${round(x)} ${round(y)}`;

/** A link of a ring is bent towards its middle, so that it does not pass behind the boxes between; the more the further it goes. */
function bent(a: Placed, b: Placed, [cx, cy]: [number, number], height: number): Course {
  const by = Math.min(0.6 * (Math.hypot(a.x - b.x, a.y - b.y) / height), 0.4);
  const control: Point = [((a.x + b.x) / 2) * (1 - by) + cx * by, ((a.y + b.y) / 2) * (1 - by) + cy * by];
  const points = along((t) => {
    const [p, q, r] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    return [p * a.x + q * control[0] + r * b.x, p * a.y + q * control[1] + r * b.y];
  });
  return { path: `M${at([a.x, a.y])}Q${at(control)} ${at([b.x, b.y])}`, middle: points[STEPS / 2] as Point, points };
}

/** An arc below two boxes of a row. */
function arc(x1: number, x2: number, y: number, deep: number): Course {
  // The lowest point of such a curve is at three quarters of its controls.
  const low = y + deep / 0.75;
  const points = along((t) => {
    const [p, q] = [(1 - t) ** 3 + 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t) + t ** 3];
    return [p * x1 + q * x2, y + 3 * t * (1 - t) * (low - y)];
  });
  return { path: `M${at([x1, y])}C${at([x1, low])} ${at([x2, low])} ${at([x2, y])}`, middle: [(x1 + x2) / 2, y + deep], points };
}

function straight(a: Placed, b: Placed, x1: number, x2: number): Course {
  const down = a.row > b.row ? -1 : 1;
  const [from, to]: [Point, Point] = [[x1, a.y + (down * a.height) / 2], [x2, b.y - (down * b.height) / 2]];
  return { path: `M${at(from)}L${at(to)}`, middle: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], points: [from, to] };
}

function courses(picture: CircuitPicture, placement: Placement): Course[] {
  const ends = attached(picture.bundles, placement.boxes);
  return picture.bundles.map((bundle, place) => {
    const [a, b] = bundle.ends.map((end) => placement.boxes[end] ?? NOWHERE) as [Placed, Placed];
    const [x1, x2] = ends[place] ?? [a.x, b.x];
    if (placement.ring) return bent(a, b, placement.ring, placement.height);
    return a.row === b.row ? arc(x1, x2, a.y + a.height / 2, reach(a, b, placement.rows)) : straight(a, b, x1, x2);
  });
}

function awayFrom(points: readonly Point[], x: number, y: number): number {
  let least = Infinity;
  for (let place = 1; place < points.length; place += 1) {
    const [[x1, y1], [x2, y2]] = [points[place - 1] as Point, points[place] as Point];
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const share = Math.min(Math.max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length, 0), 1);
    least = Math.min(least, Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1)));
  }
  return least;
}

/** The colour of a load; links of which nobody knows it have one of their own. */
function colourOf(busy: [number, number] | null, full: number, theme: Theme): string {
  return busy ? css(loadColour(theme, Math.max(...busy) / full)) : (theme.series[7] ?? theme.soft);
}

/** A stroke for a number of links. */
const thickness = (links: number, most: number): number => 1.6 + (links - 1) * Math.min(7 / Math.max(most - 1, 1), 1.1);

/** The first name that fits a width, and the size of its letters. */
function fitting(names: readonly string[], width: number): [string, number] | undefined {
  for (const name of names) {
    const size = [12, 11, 10].find((one) => textWidth(name, one) <= width);
    if (size !== undefined) return [name, size];
  }
  return undefined;
}

/** A name in the middle of a place, upright if it is too long for its box. */
function nameIn(box: SwitchBox, placed: Placed, y: number, height: number, theme: Theme): string {
  const names = namesOf(box);
  const across = fitting(names, placed.width - 4);
  const [name, size] = across ?? fitting(names, height - 4) ?? ["", 0];
  if (!name) return "";
  const style = { fill: theme.soft, anchor: "middle", size } as const;
  // Letters stand a third of their size above their line.
  return across ? text(placed.x, y + size * 0.35, name, style) : text(placed.x + size * 0.35, y, name, { ...style, turn: true });
}

/** A tick for each host at the lower edge of a leaf, if they have room there. */
function ticksOf(box: SwitchBox, left: number, bottom: number, width: number, theme: Theme): string {
  const room = width - 8;
  if (box.switches > 1 || box.hosts < 1 || box.hosts * 2.5 > room) return "";
  const apart = Math.min(room / box.hosts, 6);
  const first = left + 4 + (room - apart * (box.hosts - 1)) / 2;
  const path = Array.from({ length: box.hosts }, (_, host) => `M${at([first + host * apart, bottom - 2])}v-6`);
  return `<path d="${path.join("")}" fill="none" stroke="${theme.soft}" stroke-width="1.4"/>`;
}

function drawBox(picture: CircuitPicture, box: CircuitBox, placed: Placed, theme: Theme): string {
  const { x, y, width, height } = placed;
  const [left, top] = [x - width / 2, y - height / 2];
  const edge = `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" rx="3" fill="${theme.panel}" stroke="${theme.soft}"/>`;
  // The room for the name above the load or the hosts.
  let below = top + height;
  let within = "";
  if (box.inner) {
    const colour = colourOf(box.inner.busy, picture.full, theme);
    within = `<path d="M${at([left + 3, below - 6])}H${round(left + width - 3)}" fill="none" stroke="${colour}" stroke-width="6"/>`;
    below -= 10;
  } else {
    within = ticksOf(box, left, below, width, theme);
    if (within) below -= 7;
  }
  return `<g class="box">${edge}${within}${nameIn(box, placed, (top + below) / 2, below - top, theme)}</g>`;
}

/** Where the ports of a box without a circuit are counted. */
function darkOf({ x, y, width, height }: Placed): { x: number; y: number; radius: number } {
  return { x: x + width / 2 + 1, y: y - height / 2 - 1, radius: width < 22 ? 3 : 6.5 };
}

function drawDark(ports: number, placed: Placed, theme: Theme): string {
  const { x, y, radius } = darkOf(placed);
  const circle = `<circle class="dark" cx="${round(x)}" cy="${round(y)}" r="${radius}" fill="${theme.ground}" stroke="${theme.bad}" stroke-width="1.5"/>`;
  const number = plain(ports);
  return radius > 5 && number.length < 4 ? circle + text(x, y + 3.2, number, { fill: theme.ink, anchor: "middle", size: 9 }) : circle;
}

/** A text that is read over lines. */
const over = (svg: string, theme: Theme): string => `<g paint-order="stroke" stroke="${theme.ground}" stroke-width="4" stroke-linejoin="round">${svg}</g>`;

function drawBundle(picture: CircuitPicture, bundle: Bundle, course: Course, theme: Theme): string {
  const wide = round(thickness(bundle.count, picture.most));
  const dash = bundle.kind === "moved" ? ' stroke-dasharray="6 3"' : "";
  const colour = colourOf(bundle.busy, picture.full, theme);
  const line = `<path class="${bundle.kind}" d="${course.path}" fill="none" stroke="${colour}" stroke-width="${wide}"${dash}/>`;
  const stands = bundle.ends.some((end) => (picture.boxes[end]?.switches ?? 1) > 1);
  const counted = picture.shape !== "ring" && stands && bundle.count > 1;
  const number = counted ? over(text(course.middle[0], course.middle[1] + 4, plain(bundle.count), { fill: theme.soft, anchor: "middle" }), theme) : "";
  return `<g class="link">${line}${number}</g>`;
}

const drawFrame = ({ left, top, width, height }: Frame, theme: Theme): string =>
  `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" rx="6" fill="none" stroke="${theme.rule}"/>`;

/** The marks from the lowest to the uppermost, in which order keys go through them. */
function marksOf(picture: CircuitPicture, placement: Placement, lines: readonly Course[]): Mark[] {
  const links = picture.bundles.map((bundle, place): Mark => {
    const { middle, points } = lines[place] as Course;
    return { at: { x: middle[0], y: middle[1], text: sayBundle(picture, bundle) }, away: (x, y) => awayFrom(points, x, y) };
  });
  const boxes = picture.boxes.flatMap((box, place): Mark[] => {
    const placed = placement.boxes[place] ?? NOWHERE;
    const inside = (x: number, y: number) => Math.abs(x - placed.x) <= placed.width / 2 && Math.abs(y - placed.y) <= placed.height / 2;
    const own: Mark = { at: { x: placed.x, y: placed.y, text: sayBox(box) }, away: (x, y) => (inside(x, y) ? 0 : Infinity) };
    if (!box.dark) return [own];
    const { x: cx, y: cy, radius } = darkOf(placed);
    const said = `${nameOf(box)}\n${plain(box.dark)} dark ${box.dark === 1 ? "port" : "ports"}`;
    return [own, { at: { x: cx, y: cy, text: said }, away: (x, y) => (Math.hypot(x - cx, y - cy) <= radius ? 0 : Infinity) }];
  });
  return [...links, ...boxes];
}

export function circuits(picture: CircuitPicture, width: number, theme: Theme): Drawing {
  const placement = arrange(picture.shape, picture.boxes, width);
  const lines = courses(picture, placement);
  // Arcs hang below the boxes.
  const lowest = placement.ring ? 0 : Math.max(0, ...lines.map((line) => line.middle[1] + 8));
  const isKnown = picture.bundles.some((bundle) => bundle.busy) || picture.boxes.some((box) => box.inner?.busy);
  const bottom = Math.ceil(Math.max(placement.height, lowest) + 2);
  const height = bottom + (isKnown ? SCALE : 0);
  const marks = marksOf(picture, placement, lines);
  const boxes = picture.boxes.map((box, place) => {
    const placed = placement.boxes[place] ?? NOWHERE;
    return drawBox(picture, box, placed, theme) + (box.dark ? drawDark(box.dark, placed, theme) : "");
  });
  const pods = placement.frames.map((frame) => over(text(frame.left + 10, frame.top + frame.height / 2, frame.name, { fill: theme.soft, anchor: "middle", turn: true }), theme));
  const content = [
    ...placement.frames.map((frame) => drawFrame(frame, theme)),
    ...picture.bundles.map((bundle, place) => drawBundle(picture, bundle, lines[place] as Course, theme)),
    ...boxes,
    ...pods,
    isKnown ? loadRamp(width - 12, bottom + 6, `${percent(picture.full)} busy`, theme) : "",
  ];
  return {
    svg: document(width, height, theme, picture.title, content.join("")),
    width,
    height,
    inner: { left: 0, top: 0, right: width, bottom },
    hover: (x, y) => {
      let [best, least] = [undefined as Mark | undefined, CLOSE];
      // What lies above comes later; of links the nearest is meant.
      for (const mark of marks) {
        const away = mark.away(x, y);
        if (away < least || away === 0) [best, least] = [mark, away];
      }
      return best ? { ...best.at, x, y } : null;
    },
    stops: () => marks.map((mark) => mark.at),
  };
}
