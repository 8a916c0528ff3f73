/** What plots of a sweep are made of: its rows, by variant, point and axis. */
import type { Sweep } from "../api/types";
import { plain, unitFor } from "../draw/numbers";
import type { Matrix } from "../report/spec";

/** The mean of the two in the middle where there are as many below as above. */
export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

export type Rows = Pick<Sweep, "axes" | "variants" | "readings" | "rows">;

export const labelOf = (axis: Sweep["axes"][number]): string => axis.label || axis.path;

/** The values of all seeds of one variant at one point. */
export interface Group {
  variant: string;
  point: string[];
  values: number[];
}

/** Seeds of one variant at one point are one group. */
export function grouped(sweep: Rows, reading: number): Group[] {
  const groups = new Map<string, Group>();
  for (const row of sweep.rows) {
    const value = row.values[reading];
    if (typeof value !== "number") continue;
    const key = JSON.stringify([row.point, row.variant]);
    const group = groups.get(key) ?? { variant: row.variant, point: row.point, values: [] };
    groups.set(key, group);
    group.values.push(value);
  }
  const place = (point: string[]) => sweep.axes.map((axis, at) => axis.values.indexOf(point[at] ?? ""));
  return [...groups.values()].sort((a, b) => {
    const [left, right] = [place(a.point), place(b.point)];
    const at = left.findIndex((one, index) => one !== right[index]);
    return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
  });
}

/** More rows or columns are too fine to see. */
const SIDE = 64;

/** The places of the axes that have enough values for one side of a heat map, and not too many. */
export const sides = (sweep: Rows): number[] =>
  sweep.axes.flatMap((axis, at) => (axis.values.length >= 2 && axis.values.length <= SIDE ? [at] : []));

/** Which part of a sweep a heat map shows. */
export interface Cut {
  reading: number;
  variant: string;
  /** Places of the axes from top to bottom, and from left to right. */
  down: number;
  across: number;
  /** The value of each axis; those of `down` and `across` do not matter. */
  at: string[];
}

/** The medians of one variant over two axes, coloured as those of all variants; nothing without a value. */
export function matrixOf(sweep: Rows, cut: Cut): Matrix | null {
  const [down, across] = [sweep.axes[cut.down], sweep.axes[cut.across]];
  const reading = sweep.readings[cut.reading];
  if (!down || !across || !reading || cut.down === cut.across) return null;
  const varied = (axis: number) => axis === cut.down || axis === cut.across;
  const shown = grouped(sweep, cut.reading).filter((group) => group.point.every((value, axis) => varied(axis) || value === cut.at[axis]));
  if (shown.length === 0) return null;
  const medians = shown.map((group) => median(group.values));
  const [low, high] = [Math.min(...medians), Math.max(...medians)];
  const unit = unitFor(reading.unit, Math.max(Math.abs(low), Math.abs(high)));
  const own = new Map(
    shown.filter((group) => group.variant === cut.variant).map((group) => [JSON.stringify([group.point[cut.down], group.point[cut.across]]), group]),
  );
  const cells = down.values.map((row) => across.values.map((column) => own.get(JSON.stringify([row, column]))));
  const say = ({ variant, point, values }: Group): string => {
    const number = (value: number) => plain(value / unit.size, 5);
    const where = sweep.axes.map((axis, at) => `${labelOf(axis)} = ${point[at] ?? ""}`);
    const spread = values.length > 1 ? `, ${number(Math.min(...values))} to ${number(Math.max(...values))} over ${values.length} seeds` : "";
    return [variant, ...where, `${number(median(values))} ${unit.name}`.trim() + spread].filter(Boolean).join("\n");
  };
  return {
    kind: "matrix",
    title: [reading.name, cut.variant && `of ${cut.variant}`, `over ${labelOf(down)} and ${labelOf(across)}`].filter(Boolean).join(" "),
    down: labelOf(down),
    across: labelOf(across),
    rows: down.values,
    columns: across.values,
    values: cells.map((row) => row.map((group) => (group ? median(group.values) / unit.size : null))),
    unit: unit.name,
    low: low / unit.size,
    high: high / unit.size,
    says: cells.map((row) => row.map((group) => (group ? say(group) : ""))),
  };
}
