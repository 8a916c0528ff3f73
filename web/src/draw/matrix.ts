/** A value for each pair of two axes, in colour and, where cells are large enough, in numbers. */
import { plain } from "./numbers";
import { cellRamp, RAMP } from "./ramp";
import { document, type Drawing, fit, type Hover, rect, text, textWidth } from "./svg";
import { css, ramp, rgb, type Rgb, type Theme } from "./theme";

export interface Matrix {
  title: string;
  /** Names of the axes. */
  down: string;
  across: string;
  /** Values of the axes: from top to bottom, and from left to right. */
  rows: string[];
  columns: string[];
  /** Row by row; null where there is none. */
  values: (number | null)[][];
  unit: string;
  /** The values that have the first and the last colour; pictures side by side share them. */
  low: number;
  high: number;
  /** What is said of each cell under the pointer, row by row. */
  says: string[][];
}

/** The most width of a cell, and the least of one with its number in it, in pixels. */
const WIDEST = 150;
const NUMBERED = 44;

const luminance = ([r, g, b]: Rgb): number => 0.3 * r + 0.6 * g + 0.1 * b;

/** The colour of text that is read over a ground of this colour. */
function over(ground: Rgb, theme: Theme): string {
  const contrast = (colour: string) => Math.abs(luminance(rgb(colour)) - luminance(ground));
  return contrast(theme.ink) >= contrast(theme.ground) ? theme.ink : theme.ground;
}

export function matrix(map: Matrix, width: number, theme: Theme): Drawing {
  const names = Math.min(Math.max(40, ...map.rows.map((name) => textWidth(name, 11) + 14)), width * 0.25);
  const [left, right, top] = [20 + names, width - 12, 24];
  const wide = Math.min((right - left) / Math.max(map.columns.length, 1), WIDEST);
  const high = map.rows.length > 24 ? 14 : 26;
  const bottom = top + high * map.rows.length;
  const share = (value: number): number => (map.high > map.low ? (value - map.low) / (map.high - map.low) : 0.5);
  const cell = (value: number, x: number, y: number): string => {
    const colour = ramp(theme, share(value));
    const box = rect(x, y, wide - 1.5, high - 1.5, css(colour), 'class="cell"');
    const number = plain(value);
    if (wide < Math.max(NUMBERED, textWidth(number, 11) + 4) || high < 20) return box;
    return box + text(x + wide / 2, y + high / 2 + 4, number, { fill: over(colour, theme), anchor: "middle", size: 11 });
  };
  const rows = map.rows.map((name, at) => {
    const y = top + at * high;
    const cells = (map.values[at] ?? []).map((value, column) => (value === null ? "" : cell(value, left + column * wide, y)));
    return text(left - 8, y + high / 2 + 4, fit(name, names - 10, 11), { fill: theme.soft, anchor: "end", size: 11 }) + cells.join("");
  });
  const longest = Math.min(Math.max(...map.columns.map((name) => textWidth(name, 11)), 0) + 8, 120);
  const every = Math.max(Math.ceil(longest / wide), 1);
  const columns = map.columns.map((name, at) =>
    at % every === 0 ? text(left + wide * (at + 0.5), bottom + 16, fit(name, wide * every - 4, 11), { fill: theme.soft, anchor: "middle", size: 11 }) : "",
  );
  const titles =
    text(left + (wide * map.columns.length) / 2, bottom + 35, map.across, { fill: theme.ink, anchor: "middle" }) +
    text(13, (top + bottom) / 2, fit(map.down, Math.max(high * map.rows.length + 40, 60)), { fill: theme.ink, anchor: "middle", turn: true });
  const ends = [map.low, map.high].map((value) => `${plain(value)} ${map.unit}`.trim()) as [string, string];
  const height = bottom + 42;
  // Above the last column, where that is not at the edge.
  const end = Math.min(right, Math.max(left + RAMP, left + wide * map.columns.length));
  const hovered = (row: number, column: number, x: number, y: number): Hover | null => {
    const value = map.values[row]?.[column];
    return value === null || value === undefined ? null : { x, y, text: map.says[row]?.[column] ?? "" };
  };
  return {
    svg: document(width, height, theme, map.title, cellRamp(end, 4, ends, theme) + rows.join("") + columns.join("") + titles),
    width,
    height,
    inner: { left, top, right, bottom },
    hover: (x, y) => hovered(Math.floor((y - top) / high), Math.floor((x - left) / wide), x, y),
    stops: () =>
      map.rows.flatMap((_, row) =>
        map.columns.flatMap((_, column) => hovered(row, column, left + (column + 0.5) * wide, top + (row + 0.5) * high) ?? []),
      ),
  };
}
