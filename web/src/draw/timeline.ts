/** Bars over time, a lane below the other: data chunks, collectives, operations. */
import { horizontalAxis, scale } from "./axes";
import { withUnit } from "./numbers";
import type { Pen } from "./pen";
import { fit, textWidth } from "./svg";
import { pale, type Theme } from "./theme";

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
  /** What each lane belongs to: lanes of a group stand together, below its name in a column of its own. */
  groups?: string[];
  /** Bars that are paler than others of their colour. */
  light?: boolean[];
  /** Pixels above the lanes. */
  top?: number;
}

export const AXIS = 42;
export const NAMES = 96;

/** Lanes of groups are as high as their names, since each has its own. */
const GROUPED = 12;
/** Pixels that the name of a lane needs. */
const NAME = 13;
/** Pixels between groups. */
const APART = 6;

/** Where the lanes lie. */
function placed(data: Pick<Bars, "lanes" | "groups" | "top">): { high: number; tops: number[]; bottom: number } {
  const count = data.lanes.length;
  const high = Math.max(data.groups ? GROUPED : 3, Math.min(18, Math.floor(560 / Math.max(count, 1))));
  let y = (data.top ?? 0) + 2;
  const tops = data.lanes.map((_, at) => {
    if (at > 0 && data.groups && data.groups[at] !== data.groups[at - 1]) y += APART;
    y += high;
    return y - high;
  });
  return { high, tops, bottom: y };
}

export function timelineHeight(data: Pick<Bars, "lanes" | "groups" | "top">): number {
  return placed(data).bottom + AXIS + 4;
}

function nameLanes(pen: Pen, data: Bars, names: number, theme: Theme): void {
  const { high, tops } = placed(data);
  const own = Math.max(0, ...(data.groups ?? []).map((name) => textWidth(name, 11) + 8));
  let named = -Infinity;
  data.lanes.forEach((lane, at) => {
    const top = tops[at] ?? 0;
    const base = top + high / 2 + 4;
    const group = data.groups?.[at];
    const isFirst = group !== data.groups?.[at - 1];
    if (group !== undefined && isFirst) pen.text(2, base, fit(group, names - 12, 11), { fill: theme.ink, size: 11 });
    // A rank whose chunks overlap has several lanes, and one name.
    const before = data.lanes[at - 1];
    if (!isFirst && lane.name === before?.name && lane.job === before.job) return;
    if (!data.groups && top - named < NAME) return;
    named = top;
    pen.text(names - 8, base, fit(lane.name, names - 12 - own, 11), { fill: theme.soft, anchor: "end", size: 11 });
  });
}

export function drawTimeline(pen: Pen, data: Bars, width: number, theme: Theme): string {
  const { high, tops, bottom } = placed(data);
  const right = width - 8;
  const names = data.names ?? NAMES;
  const x = scale({ label: data.label ?? "Time", unit: "ns" }, data.from_ns, data.to_ns, names, right);
  if (data.groups) {
    const ends = x.ticks.flatMap((tick) => [x.at(tick.value), (data.top ?? 0) + 2, x.at(tick.value), bottom]);
    pen.lines(ends, theme.rule, 1);
  }
  nameLanes(pen, data, names, theme);
  const batches = new Map<string, { sides: number[]; colour: string; edge: string | undefined }>();
  const warnings: [number[], string][] = [];
  data.bars.forEach(([lane = 0, start = 0, end = 0], place) => {
    const which = data.colours?.[place] ?? data.lanes[lane]?.job ?? 0;
    const full = theme.series[which % theme.series.length] ?? theme.ink;
    const colour = data.light?.[place] ? pale(theme, full) : full;
    const from = Math.max(x.at(start), names);
    const to = Math.min(Math.max(x.at(end), from + 0.7), right);
    const box = [from, tops[lane] ?? 0, to - from, Math.max(high - (high > 5 ? 2 : 0.6), 1)];
    if (data.marked?.[place]) {
      warnings.push([box, colour]);
      return;
    }
    // An edge would leave nothing of a narrow bar.
    const edge = high > 8 && to - from > 3 ? theme.ground : undefined;
    const batch = batches.get(`${colour}${edge}`) ?? { sides: [], colour, edge };
    batches.set(`${colour}${edge}`, batch);
    batch.sides.push(...box);
  });
  for (const { sides, colour, edge } of batches.values()) pen.boxes(sides, colour, edge);
  for (const [box, colour] of warnings) pen.boxes(box, colour, theme.bad);
  return horizontalAxis(x, bottom + 2, names, right, theme);
}

/** The place of what lies at a point: the bar of its lane that is there, or else one beside it. */
export function barAt(data: Bars, width: number, px: number, py: number): number | undefined {
  const { high, tops } = placed(data);
  const lane = tops.findIndex((top) => top <= py && py < top + high);
  const time = timeAt(data, width, px);
  const slack = ((data.to_ns - data.from_ns) / (width - (data.names ?? NAMES))) * 1.5;
  const within = (most: number) => data.bars.findIndex(([of = 0, start = 0, end = 0]) => of === lane && start - most <= time && time <= end + most);
  const found = lane < 0 ? -1 : [0, slack].map(within).find((place) => place >= 0);
  return found === undefined || found < 0 ? undefined : found;
}

/** The pixel of a time. */
export function pixelOf(data: Bars, width: number, time: number): number {
  const names = data.names ?? NAMES;
  return names + ((time - data.from_ns) / (data.to_ns - data.from_ns)) * (width - 8 - names);
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
