/** Port × time and the like: a cell for each pair, its value in colour. */
import { horizontalAxis, scale } from "./axes";
import { withUnit } from "./numbers";
import type { Span } from "./span";
import { cellRamp } from "./ramp";
import { document, type Drawing, fit, rect, text, textWidth } from "./svg";
import { css, ramp, type Theme } from "./theme";

export interface HeatMap {
  title: string;
  rows: string[];
  /** Where the columns begin. */
  times: number[];
  /** Where the last column ends, and where the axis ends: drawings side by side share it. */
  end?: number;
  to?: number;
  values: number[][];
  say: (value: number) => string;
  max: number;
  /** Name of the axis of time. */
  label?: string;
  /** The stretch of time that is shown; all of it unless given. */
  span?: Span | null;
}

/** The most room for names of rows, in pixels. */
const NAMES = 220;

/** Rows that are all the same, left to right, are one box: most ports are idle most of the time. */
export function heatMap(map: HeatMap, width: number, theme: Theme): Drawing {
  const high = Math.max(4, Math.min(18, Math.floor(520 / Math.max(map.rows.length, 1))));
  const longest = Math.max(70, ...map.rows.map((name) => textWidth(name, 11) + 14));
  const names = Math.min(longest, NAMES, width * 0.3);
  const [left, right, top] = [names, width - 12, 24];
  const bottom = top + map.rows.length * high;
  const first = map.times[0] ?? 0;
  const end = map.end ?? map.times.at(-1) ?? 1;
  const ends = map.span ? { low: map.span.from, high: map.span.to } : {};
  const x = scale({ label: map.label ?? "Time", unit: "ns", ...ends }, first, map.to ?? end, left, right);
  const most = map.max || 1;
  const wide = (end - first) / Math.max(map.times.length, 1);
  // Where a column begins, within the plot.
  const edge = (at: number) => Math.min(Math.max(x.at(first + at * wide), left), right);
  const columnAt = (px: number) => Math.floor((x.back(px) - first) / (wide || 1));
  const gaps = Math.max(1, Math.ceil(12 / high));
  const cells = map.rows.map((name, row) => {
    const y = top + row * high;
    let svg = row % gaps === 0 ? text(left - 8, y + Math.min(high, 16) / 2 + 5, fit(name, names - 12, 11), { fill: theme.soft, anchor: "end", size: 11 }) : "";
    let from = 0;
    const values = map.values[row] ?? [];
    const level = (at: number) => Math.round(((values[at] ?? 0) / most) * 24);
    for (let at = 1; at <= map.times.length; at += 1) {
      if (at < map.times.length && level(at) === level(from)) continue;
      if (edge(at) > edge(from)) svg += rect(edge(from), y, edge(at) - edge(from) + 0.4, Math.max(high - 0.6, 1), css(ramp(theme, level(from) / 24)));
      from = at;
    }
    return svg;
  });
  const scaleBar = cellRamp(right, 4, ["0", map.say(most)], theme);
  const height = bottom + 42;
  return {
    svg: document(width, height, theme, map.title, scaleBar + cells.join("") + horizontalAxis(x, bottom + 2, left, right, theme)),
    width,
    height,
    inner: { left, top, right, bottom },
    across: { at: x.at, back: x.back },
    hover: (px, py) => {
      const [row, column] = [Math.floor((py - top) / high), columnAt(px)];
      const name = map.rows[row];
      const time = map.times[column];
      if (name === undefined || time === undefined) return null;
      return { x: px, y: py, text: `${name}\n${withUnit(time, "ns")}: ${map.say(map.values[row]?.[column] ?? 0)}` };
    },
  };
}
