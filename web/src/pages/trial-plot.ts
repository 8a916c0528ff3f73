/** A plot over trials: the median of a quantity at each value of another, a line or bar for each word of a third. */
import type { Row } from "../api/types";
import type { Bar } from "../draw/bars";
import type { Series } from "../draw/lines";
import { median } from "../draw/median";
import type { TrialColumn } from "./trial-columns";

export interface Mark {
  name: string;
  x: string | number;
  /** The least, the median and the greatest, and of how many trials. */
  least: number;
  middle: number;
  greatest: number;
  trials: number;
}

export interface TrialPlot {
  marks: Mark[];
  /** Lines over numbers, or bars over words. */
  series: Series[];
  bars: Bar[];
  /** Lines that are left out, as there are no more that can be told apart. */
  left: number;
  log: boolean;
}

const SERIES = 12;

const spans = (values: readonly number[]): boolean => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length > 2 && low > 0 && high >= 8 * low;
};

export function plotOf(rows: readonly Row[], x: TrialColumn, y: TrialColumn, by: TrialColumn | undefined): TrialPlot {
  const found = new Map<string, Map<string | number, number[]>>();
  for (const row of rows) {
    const [at, value] = [x.of(row), y.of(row)];
    if (at === undefined || typeof value !== "number") continue;
    const name = by ? by.say(by.of(row)) : "all trials";
    const line = found.get(name) ?? new Map<string | number, number[]>();
    found.set(name, line);
    const values = line.get(at);
    if (values) values.push(value);
    else line.set(at, [value]);
  }
  const order = (a: string | number, b: string | number) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  const shown = [...found].sort(([a], [b]) => order(a, b)).slice(0, SERIES);
  const marks = shown.flatMap(([name, line]) =>
    [...line].sort(([a], [b]) => order(a, b)).map(([at, values]): Mark => {
      const sorted = values.sort((a, b) => a - b);
      return { name, x: at, least: sorted[0] ?? 0, middle: median(sorted), greatest: sorted.at(-1) ?? 0, trials: sorted.length };
    }),
  );
  const names = shown.map(([name]) => name);
  const series = x.kind !== "number" ? [] : names.map((name, colour): Series => {
    const own = marks.filter((mark) => mark.name === name);
    return {
      name,
      colour,
      dots: own.length <= 200,
      points: own.map((mark) => [Number(mark.x), mark.middle] as const),
      spread: own.length <= 200 ? own.filter((mark) => mark.trials > 1).map((mark) => [Number(mark.x), mark.least, mark.greatest] as const) : [],
    };
  });
  const bars = x.kind === "number" ? [] : [...marks].sort((a, b) => order(a.x, b.x)).map((mark): Bar => ({
    ...(by ? { group: String(mark.x), name: mark.name } : { name: String(mark.x) }),
    value: mark.middle,
    colour: names.indexOf(mark.name),
    text: y.say(mark.middle),
    ...(mark.trials > 1 ? { low: mark.least, high: mark.greatest } : {}),
  }));
  return { marks, series, bars, left: found.size - shown.length, log: x.kind === "number" && spans(marks.map((mark) => Number(mark.x))) };
}
