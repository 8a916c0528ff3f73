/** A fabric: its switches, hosts and cables, with a load or job in colour. */
import { type Layout, type Link, type Node } from "./layout";
import type { Pen } from "./pen";
import { css, loadColour, type Theme } from "./theme";
import { textWidth } from "./svg";

export interface View {
  width: number;
  height: number;
  /** Enlargement, and the place of the picture's corner in pixels. */
  zoom: number;
  left: number;
  top: number;
}

export interface FabricPicture {
  nodes: Node[];
  links: Link[];
  layout: Layout;
  /** Load of each link from 0 to 1, or nothing for one that has none; without it cables are plain. */
  loads?: Float32Array | undefined;
  /** Which job a node belongs to, −1 for none. */
  jobs?: number[] | undefined;
}

const LEVELS = 24;

export const fitted = (width: number, height: number): View => ({ width, height, zoom: 1, left: 0, top: 0 });

export function place(picture: FabricPicture, view: View, at: number): [number, number] {
  const margin = 14;
  return [
    view.left + margin + (picture.layout.x[at] ?? 0) * (view.width - 2 * margin) * view.zoom,
    view.top + margin + (picture.layout.y[at] ?? 0) * (view.height - 2 * margin) * view.zoom,
  ];
}

/** Half the width and height of a node in pixels. */
export function half(picture: FabricPicture, view: View, at: number): [number, number] {
  const most = view.zoom > 4 ? 44 : 34;
  const w = (picture.layout.w[at] ?? 0) * view.width * view.zoom;
  const h = (picture.layout.h[at] ?? 0) * view.height * view.zoom;
  return [Math.min(Math.max(w, 0.8), most), Math.min(Math.max(h, 0.8), 11)];
}

/** Whether a node is drawn as a box with its name, not as a dot. */
const roomy = (picture: FabricPicture, view: View, at: number): boolean => half(picture, view, at)[1] >= 6;

/** The load of a cable: the greatest of its links. */
export function cableLoad(picture: FabricPicture, links: number[]): number {
  let most = -1;
  for (const link of links) most = Math.max(most, picture.loads?.[link] ?? -1);
  return most;
}

export function drawFabric(pen: Pen, picture: FabricPicture, view: View, theme: Theme): void {
  const { nodes, layout } = picture;
  const batches: number[][] = Array.from({ length: LEVELS + 2 }, () => []);
  const thin = layout.cables.length > 3000;
  for (const cable of layout.cables) {
    const [x1, y1] = place(picture, view, cable.a);
    const [x2, y2] = place(picture, view, cable.b);
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > view.width || Math.max(y1, y2) < 0 || Math.min(y1, y2) > view.height) continue;
    const load = cableLoad(picture, cable.links);
    const batch = load < 0 ? 0 : 1 + Math.round(Math.min(load, 1) * LEVELS);
    batches[batch]?.push(x1, y1, x2, y2);
  }
  batches.forEach((ends, level) => {
    if (ends.length === 0) return;
    const load = (level - 1) / LEVELS;
    const colour = level === 0 ? theme.idle : css(loadColour(theme, load));
    const width = (level <= 1 ? 0.6 : 0.8 + load * 2.4) * (thin ? 0.6 : 1) * Math.min(Math.sqrt(view.zoom), 2);
    pen.lines(ends, colour, width);
  });
  const fills = new Map<string, number[]>();
  nodes.forEach((node, at) => {
    const [x, y] = place(picture, view, at);
    if (x < -30 || x > view.width + 30 || y < -30 || y > view.height + 30) return;
    const [w, h] = half(picture, view, at);
    const job = picture.jobs?.[at] ?? -1;
    const fill = job >= 0 ? (theme.series[job % theme.series.length] ?? theme.ink) : node.kind === "host" && !roomy(picture, view, at) ? theme.soft : theme.panel;
    const key = `${fill}|${node.kind === "host" && !roomy(picture, view, at) ? "" : theme.soft}`;
    const sides = fills.get(key) ?? [];
    fills.set(key, sides);
    sides.push(x - w, y - h, w * 2, h * 2);
  });
  for (const [key, sides] of fills) {
    const [fill = "", edge = ""] = key.split("|");
    // Borders of boxes that are hardly wider than these would hide them.
    const small = nodes.length > 2000 && view.zoom < 4;
    pen.boxes(sides, small && fill === theme.panel ? theme.soft : fill, small ? undefined : edge || undefined);
  }
  labels(pen, picture, view, theme);
}

/** Names within boxes, where there is room for them. */
function labels(pen: Pen, picture: FabricPicture, view: View, theme: Theme): void {
  picture.nodes.forEach((node, at) => {
    const [x, y] = place(picture, view, at);
    const [w, h] = half(picture, view, at);
    if (h < 6 || x < 0 || x > view.width || y < 0 || y > view.height) return;
    const size = [11, 10, 9].find((one) => textWidth(node.name, one) + 4 <= w * 2);
    if (size === undefined) return;
    const coloured = (picture.jobs?.[at] ?? -1) >= 0;
    pen.text(x, y + size * 0.36, node.name, { fill: coloured ? theme.ground : theme.ink, anchor: "middle", size });
  });
}

/** The node under a point, if there is one within a few pixels. */
export function nodeAt(picture: FabricPicture, view: View, px: number, py: number): number | undefined {
  let [best, least] = [-1, 12];
  for (let at = 0; at < picture.nodes.length; at += 1) {
    const [x, y] = place(picture, view, at);
    const [w, h] = half(picture, view, at);
    const away = Math.max(Math.abs(px - x) - w, 0) + Math.max(Math.abs(py - y) - h, 0);
    if (away < least) [best, least] = [at, away];
  }
  return best < 0 ? undefined : best;
}

/** The cable under a point. */
export function cableAt(picture: FabricPicture, view: View, px: number, py: number): number | undefined {
  let [best, least] = [-1, 5];
  picture.layout.cables.forEach((cable, at) => {
    const [x1, y1] = place(picture, view, cable.a);
    const [x2, y2] = place(picture, view, cable.b);
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
    const share = Math.min(Math.max(((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / length, 0), 1);
    const away = Math.hypot(px - x1 - share * (x2 - x1), py - y1 - share * (y2 - y1));
    if (away < least) [best, least] = [at, away];
  });
  return best < 0 ? undefined : best;
}
