/** What plots of a sweep are made of: the values of a reading by point and variant, as the server has computed them. */
import type { Sweep } from "../api/types";
import type { Bar } from "../draw/bars";
import type { Series } from "../draw/lines";
import { median } from "../draw/median";
import { plain, type Unit, unitFor } from "../draw/numbers";
import { DASHES, LIGHT } from "../draw/theme";
import type { SpecOf } from "../pictures/spec";

export type Rows = Pick<Sweep, "axes" | "variants" | "points" | "readings">;
export type Reading = Sweep["readings"][number];
type Cell = Reading["cells"][number];

export const labelOf = (axis: Sweep["axes"][number]): string => axis.label || axis.path;

export const variantName = (sweep: Rows, variant: number): string => sweep.variants[variant] || "all trials";

/** The values of a point by their axes: `spines=4, size=1MiB`. */
export const pointName = (sweep: Rows, point: number): string =>
  sweep.axes.map((axis, at) => `${labelOf(axis)}=${sweep.points[point]?.[at] ?? ""}`).join(", ");

/** The unit in which the greatest value of a reading is a readable number. */
export function shownUnit(reading: Reading): Unit {
  return unitFor(reading.shown_unit, Math.max(...reading.cells.map((cell) => Math.abs(cell.value ?? 0)), 0));
}

/** The name of a reading with its unit. */
export const headed = (reading: Reading, unit: Unit): string => (unit.name ? `${reading.name} (${unit.name})` : reading.name);

const isNumber = (value: number | null | undefined): value is number => typeof value === "number";

/** What is said of a cell under the pointer. */
function say(sweep: Rows, cell: Cell, unit: Unit): string {
  const number = (value: number) => plain(value / unit.size, 5);
  const value = isNumber(cell.value) ? `${number(cell.value)} ${unit.name}`.trim() : "no value";
  const spread = isNumber(cell.least) && isNumber(cell.greatest) ? `, ${number(cell.least)} to ${number(cell.greatest)} over ${cell.seeds.length} seeds` : "";
  const name = sweep.variants.length > 1 ? variantName(sweep, cell.variant) : "";
  return [name, ...sweep.axes.map((axis, at) => `${labelOf(axis)} = ${sweep.points[cell.point]?.[at] ?? ""}`), value + spread].filter(Boolean).join("\n");
}

/** A bar with more seeds has no dots. */
const DOTS = 40;

/** A group for each point and a bar for each variant, with a dot for each seed. */
export function barsOf(sweep: Rows, reading: Reading): Bar[] {
  const unit = shownUnit(reading);
  const within = (value: number) => value / unit.size;
  return reading.cells.map((cell) => ({
    ...(sweep.axes.length > 0 ? { group: sweep.points[cell.point]?.join(" ") ?? "" } : {}),
    name: variantName(sweep, cell.variant),
    value: isNumber(cell.value) ? within(cell.value) : null,
    colour: cell.variant,
    text: isNumber(cell.value) ? plain(within(cell.value), 5) : "–",
    say: say(sweep, cell, unit),
    ...(isNumber(cell.least) && isNumber(cell.greatest) ? { low: within(cell.least), high: within(cell.greatest) } : {}),
    ...(isNumber(cell.least) && cell.values.length <= DOTS ? { dots: cell.values.map(within) } : {}),
  }));
}

export interface Lines {
  series: Series[];
  /** Whether the axis is logarithmic. */
  log: boolean;
  /** Whether each value is the median over points that differ in other axes. */
  overPoints: boolean;
  /** The values of the axis as numbers, ascending, with their texts. */
  ticks: [number, string][];
}

const isLog = (ticks: [number, string][], grows: boolean): boolean => {
  const [least, most] = [ticks[0]?.[0] ?? 0, ticks.at(-1)?.[0] ?? 0];
  return least > 0 && (grows || (ticks.length > 2 && most >= 8 * least));
};

/** A line for each variant over an axis of numbers; of two axes also for each value of the other. */
export function linesOf(sweep: Rows, reading: Reading, place: number): Lines | null {
  const axis = sweep.axes[place];
  const numbers = axis?.numbers;
  if (!axis || !numbers) return null;
  const texts = new Map(numbers.map((value, at) => [value, axis.values[at] ?? ""]));
  const ticks = [...texts].sort((a, b) => a[0] - b[0]);
  if (ticks.length < 2) return null;
  const unit = shownUnit(reading);
  const other = sweep.axes.length === 2 ? sweep.axes[1 - place] : undefined;
  // More dashes could not be told apart.
  const words: (string | null)[] = other && other.values.length <= DASHES.length ? other.values : [null];
  const overPoints = sweep.axes.length > 2 || (other !== undefined && words[0] === null);
  const numberAt = (point: number) => numbers[axis.values.indexOf(sweep.points[point]?.[place] ?? "")];
  const series = sweep.variants.flatMap((_, variant) =>
    words.map((word, member) => {
      const cells = reading.cells.filter((cell) => cell.variant === variant && isNumber(cell.value) && (word === null || sweep.points[cell.point]?.[1 - place] === word));
      const marks = ticks.flatMap(([x]) => {
        const here = cells.filter((cell) => numberAt(cell.point) === x);
        const values = here.map((cell) => (cell.value ?? 0) / unit.size).sort((a, b) => a - b);
        const [only] = here;
        if (!only) return [];
        const ends = values.length > 1 ? [values[0], values.at(-1)] : isNumber(only.least) && isNumber(only.greatest) ? [only.least / unit.size, only.greatest / unit.size] : [];
        return [{ x, value: median(values), ends: ends as number[] }];
      });
      const colours = LIGHT.series.length;
      return {
        name: word === null || !other ? variantName(sweep, variant) : `${variantName(sweep, variant)}, ${labelOf(other)}=${word}`,
        colour: (variant % colours) + colours * ((Math.floor(variant / colours) + member) % DASHES.length),
        points: marks.map((mark) => [mark.x, mark.value] as const),
        spread: marks.flatMap(({ x, ends: [least, most] }) => (least === undefined || most === undefined ? [] : [[x, least, most] as const])),
        dots: true,
      };
    }),
  );
  return { series, log: isLog(ticks, axis.log), overPoints, ticks };
}

/** More rows or columns are too fine to see. */
const SIDE = 64;

/** The places of the axes that have enough values for one side of a heat map, and not too many. */
export const sides = (sweep: Rows): number[] =>
  sweep.axes.flatMap((axis, at) => (axis.values.length >= 2 && axis.values.length <= SIDE ? [at] : []));

/** Which part of a sweep a heat map shows. */
export interface Cut {
  variant: string;
  /** Places of the axes from top to bottom, and from left to right. */
  down: number;
  across: number;
  /** The value of each axis; those of `down` and `across` do not matter. */
  at: string[];
}

/** The values of one variant over two axes, coloured as those of all variants; nothing without a value. */
export function matrixOf(sweep: Rows, reading: Reading, cut: Cut): SpecOf<"matrix"> | null {
  const [down, across] = [sweep.axes[cut.down], sweep.axes[cut.across]];
  if (!down || !across || cut.down === cut.across) return null;
  const varied = (axis: number) => axis === cut.down || axis === cut.across;
  const isShown = (cell: Cell) => isNumber(cell.value) && (sweep.points[cell.point] ?? []).every((value, axis) => varied(axis) || value === cut.at[axis]);
  const shown = reading.cells.filter(isShown);
  if (shown.length === 0) return null;
  const values = shown.map((cell) => cell.value ?? 0);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const unit = unitFor(reading.shown_unit, Math.max(Math.abs(low), Math.abs(high)));
  const key = (cell: Cell) => JSON.stringify([sweep.points[cell.point]?.[cut.down], sweep.points[cell.point]?.[cut.across]]);
  const own = new Map(shown.filter((cell) => sweep.variants[cell.variant] === cut.variant).map((cell) => [key(cell), cell]));
  const cells = down.values.map((row) => across.values.map((column) => own.get(JSON.stringify([row, column]))));
  return {
    kind: "matrix",
    title: [reading.name, cut.variant && `of ${cut.variant}`, `over ${labelOf(down)} and ${labelOf(across)}`].filter(Boolean).join(" "),
    down: labelOf(down),
    across: labelOf(across),
    rows: down.values,
    columns: across.values,
    values: cells.map((row) => row.map((cell) => (cell ? (cell.value ?? 0) / unit.size : null))),
    unit: unit.name,
    low: low / unit.size,
    high: high / unit.size,
    says: cells.map((row) => row.map((cell) => (cell ? say(sweep, cell, unit) : ""))),
  };
}

/** Which variants are best: in a sentence each, the most frequent first. */
export function winners(sweep: Rows, reading: Reading): string[] {
  const [only] = reading.best;
  const name = (variant: number) => variantName(sweep, variant);
  if (sweep.points.length === 1) {
    return only ? [`${name(only.variant)} is best: ${only.difference} than ${name(only.runner_up)} (${only.confidence}).`] : [];
  }
  const wins = sweep.variants.map((_, variant) => reading.best.filter((best) => best.variant === variant));
  return wins
    .map((won, variant) => ({ won, variant }))
    .filter(({ won }) => won.length > 0)
    .sort((a, b) => b.won.length - a.won.length)
    .map(({ won, variant }) => `${name(variant)} is best at ${won.length} of ${sweep.points.length} points, significantly at ${won.filter((best) => best.significant).length}.`);
}
