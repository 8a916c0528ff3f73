/** Rows of cells, each with several numbers, of which one at a time gives the colours. */
import { withUnit } from "./numbers";
import { cellRamp, RAMP } from "./ramp";
import { document, type Drawing, fit, type Hover, rect, text, textWidth } from "./svg";
import { css, ramp, type Theme } from "./theme";

export interface CellMetric {
  /** The word of the button that chooses it. */
  key: string;
  name: string;
  unit: string;
  /** The value that has the full colour. */
  full: number;
  /** Cells where it is not 0 have an edge that warns. */
  warns?: boolean;
}

export interface Cell {
  name: string;
  rate_bps: number;
  /** In the order of the metrics; null where nobody has read it. */
  values: (number | null)[];
}

export interface CellMap {
  title: string;
  metrics: CellMetric[];
  rows: { name: string; cells: Cell[] }[];
}

/** The most room for names of rows, and the most width of a cell, in pixels. */
const NAMES = 220;
const WIDEST = 36;

function heightOf(rows: number): number {
  if (rows <= 16) return 18;
  return rows <= 48 ? 11 : 6;
}

function say(cell: Cell, metrics: CellMetric[]): string {
  const values = metrics.map((metric, at) => {
    const value = cell.values[at] ?? null;
    return `${metric.name}: ${value === null ? "not read" : withUnit(value, metric.unit)}`;
  });
  return [cell.name, withUnit(cell.rate_bps, "bit/s"), ...values].join("\n");
}

export function cellMap(map: CellMap, chosen: string, width: number, theme: Theme): Drawing {
  const place = Math.max(map.metrics.findIndex((metric) => metric.key === chosen), 0);
  const metric = map.metrics[place];
  const full = metric?.full ?? 0;
  const warning = map.metrics.findIndex((one) => one.warns);
  const names = Math.min(Math.max(70, ...map.rows.map((row) => textWidth(row.name, 11) + 14)), NAMES, width * 0.3);
  const [left, right, top, high] = [names, width - 12, 24, heightOf(map.rows.length)];
  const wide = Math.min((right - left) / Math.max(1, ...map.rows.map((row) => row.cells.length)), WIDEST);
  const gap = wide > 6 ? 1.5 : 0.3;
  const every = Math.ceil(12 / high);
  const box = (cell: Cell, x: number, y: number): string => {
    const value = cell.values[place] ?? null;
    const lossy = (cell.values[warning] ?? 0) > 0;
    const unread = `stroke="${theme.soft}" stroke-dasharray="2 2"`;
    const edge = lossy ? `class="lossy" stroke="${theme.bad}" stroke-width="1.4"` : value === null ? unread : "";
    const fill = value === null ? "none" : css(ramp(theme, full > 0 ? value / full : 0));
    return rect(x, y, wide - gap, high - gap, fill, edge);
  };
  const rows = map.rows.map((row, at) => {
    const y = top + at * high;
    const name = at % every === 0 ? text(left - 8, y + high / 2 + 4, fit(row.name, names - 12, 11), { fill: theme.soft, anchor: "end", size: 11 }) : "";
    return name + row.cells.map((cell, column) => box(cell, left + column * wide, y)).join("");
  });
  const bottom = top + map.rows.length * high;
  const hovered = (row: number, column: number, x: number, y: number): Hover | null => {
    const cell = map.rows[row]?.cells[column];
    return cell ? { x, y, text: say(cell, map.metrics) } : null;
  };
  // Above the last cells, where they do not reach so far.
  const end = Math.min(right, Math.max(left + RAMP, ...map.rows.map((row) => left + row.cells.length * wide)));
  const scale = cellRamp(end, 4, ["0", withUnit(full, metric?.unit ?? "")], theme);
  return {
    svg: document(width, bottom + 4, theme, map.title, scale + rows.join("")),
    width,
    height: bottom + 4,
    inner: { left, top, right, bottom },
    hover: (x, y) => hovered(Math.floor((y - top) / high), Math.floor((x - left) / wide), x, y),
    stops: () =>
      map.rows.flatMap((row, at) =>
        row.cells.flatMap((_, column) => hovered(at, column, left + (column + 0.5) * wide, top + (at + 0.5) * high) ?? []),
      ),
  };
}
