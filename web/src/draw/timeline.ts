/** Chunks over time, a lane below the other. */
import { horizontalAxis, scale } from "./axes";
import { withUnit } from "./numbers";
import type { Pen } from "./pen";
import { fit } from "./svg";
import type { Theme } from "./theme";

export interface Bars {
  from_ns: number;
  to_ns: number;
  lanes: { name: string; job: number }[];
  /** Lane, start, end, and how many chunks a bar stands for. */
  bars: number[][];
  /** The colour of each bar; that of the job of its lane unless given. */
  colours?: number[];
  /** Bars with an edge that warns. */
  marked?: boolean[];
  /** Name of the axis of time. */
  label?: string;
  /** Pixels for the names of lanes. */
  names?: number;
}

export const AXIS = 42;
export const NAMES = 96;

export function laneHeight(lanes: number): number {
  return Math.max(3, Math.min(18, Math.floor(560 / Math.max(lanes, 1))));
}

export function timelineHeight(lanes: number): number {
  return lanes * laneHeight(lanes) + AXIS + 6;
}

export function drawTimeline(pen: Pen, data: Bars, width: number, theme: Theme): string {
  const high = laneHeight(data.lanes.length);
  const right = width - 8;
  const names = data.names ?? NAMES;
  const x = scale({ label: data.label ?? "Time", unit: "ns" }, data.from_ns, data.to_ns, names, right);
  const bottom = data.lanes.length * high + 2;
  const gaps = Math.max(1, Math.ceil(13 / high));
  data.lanes.forEach((lane, at) => {
    if (at % gaps !== 0) return;
    pen.text(names - 8, at * high + high / 2 + 6, fit(lane.name, names - 12, 11), { fill: theme.soft, anchor: "end", size: 11 });
  });
  const batches = new Map<string, number[]>();
  const warnings: [number[], string][] = [];
  data.bars.forEach(([lane = 0, start = 0, end = 0], place) => {
    const which = data.colours?.[place] ?? data.lanes[lane]?.job ?? 0;
    const colour = theme.series[which % theme.series.length] ?? theme.ink;
    const from = Math.max(x.at(start), names);
    const to = Math.min(Math.max(x.at(end), from + 0.7), right);
    const box = [from, lane * high + 2, to - from, Math.max(high - (high > 5 ? 2 : 0.6), 1)];
    if (data.marked?.[place]) {
      warnings.push([box, colour]);
      return;
    }
    const sides = batches.get(colour) ?? [];
    batches.set(colour, sides);
    sides.push(...box);
  });
  for (const [colour, sides] of batches) pen.boxes(sides, colour, high > 8 ? theme.ground : undefined);
  for (const [box, colour] of warnings) pen.boxes(box, colour, theme.bad);
  return horizontalAxis(x, bottom + 2, names, right, theme);
}

/** What lies at a point: the bar of its lane. */
export function barAt(data: Bars, width: number, px: number, py: number): number[] | undefined {
  const high = laneHeight(data.lanes.length);
  const lane = Math.floor((py - 2) / high);
  const time = timeAt(data, width, px);
  const slack = ((data.to_ns - data.from_ns) / (width - (data.names ?? NAMES))) * 1.5;
  return data.bars.find(([of = 0, start = 0, end = 0]) => of === lane && start - slack <= time && time <= end + slack);
}

export function timeAt(data: Bars, width: number, px: number): number {
  const names = data.names ?? NAMES;
  return data.from_ns + ((px - names) / (width - 8 - names)) * (data.to_ns - data.from_ns);
}

export function sayBar(data: Bars, bar: number[]): string {
  const [lane = 0, start = 0, end = 0, , count = 1] = bar;
  const times = `${withUnit(start, "ns", 6)} to ${withUnit(end, "ns", 6)}`;
  const many = count > 1 ? `${count} chunks, merged` : `one chunk, ${withUnit(end - start, "ns")}`;
  return `${data.lanes[lane]?.name ?? ""}\n${times}\n${many}`;
}
