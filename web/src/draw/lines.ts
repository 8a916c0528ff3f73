import { type AxisSpec, horizontalAxis, type Scale, scale, verticalAxis, verticalRoom } from "./axes";
import { withUnit } from "./numbers";
import type { Span } from "./span";
import { document, type Drawing, fit, type Hover, line, rect, round, text, textWidth } from "./svg";
import { stroke, type Theme } from "./theme";

export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
  /** Which colour it has; its place in the list unless told otherwise. */
  colour?: number;
  /** Draws a dot at each point. */
  dots?: boolean;
  /** Whiskers: x, the least and the greatest value behind the point. */
  spread?: readonly (readonly [number, number, number])[];
}

export interface LineChart {
  title: string;
  series: Series[];
  x: AxisSpec;
  y: AxisSpec;
  /** A value holds until the next one. */
  steps?: boolean;
  marks?: { x: number; text: string }[];
  /** The stretch of the horizontal axis that is shown; all of it unless given. */
  span?: Span | null;
  /** Whether the names of the lines are drawn; they are, where there are several, unless told otherwise. */
  legend?: boolean;
}

let charts = 0;

function bounds(series: Series[], axis: 0 | 1, positive: boolean, span?: Span | null): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  const inside = (x: number) => !span || (x >= span.from && x <= span.to);
  for (const one of series) {
    // The value that holds where the stretch begins is seen, too.
    const before = span ? pointAt(one.points, span.from) : undefined;
    for (const point of one.points) {
      if (point !== before && !inside(point[0])) continue;
      const value = point[axis];
      if (!Number.isFinite(value) || (positive && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    for (const [x, least, greatest] of axis === 1 ? (one.spread ?? []) : []) {
      if (!inside(x)) continue;
      if (!positive || least > 0) low = Math.min(low, least);
      high = Math.max(high, greatest);
    }
  }
  return [low, high];
}

/** The last point that is not beyond `x`; points are in the order of x. */
function pointAt(points: Series["points"], x: number): readonly [number, number] | undefined {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.[0] ?? Infinity) <= x) low = middle + 1;
    else high = middle;
  }
  return points[low - 1] ?? points[0];
}

function legend(series: Series[], left: number, right: number, theme: Theme): { svg: string; height: number } {
  if (series.length < 2) return { svg: "", height: 0 };
  let [x, y] = [left, 10];
  let svg = "";
  series.forEach((one, at) => {
    const name = fit(one.name, right - left - 40);
    const width = textWidth(name) + 44;
    if (x + width > right && x > left) [x, y] = [left, y + 18];
    const { colour, dash } = stroke(theme, one.colour ?? at);
    svg +=
      `<line x1="${round(x)}" y1="${y}" x2="${round(x + 20)}" y2="${y}" stroke="${colour}" stroke-width="2.4"` +
      ` stroke-dasharray="${dash}"/>` +
      text(x + 26, y + 4, name, { fill: theme.ink });
    x += width;
  });
  return { svg, height: y + 14 };
}

/** Dots and whiskers of a line. */
function points(series: Series, x: Scale, y: Scale, colour: string): string {
  const whiskers = (series.spread ?? []).map(([at, low, high]) => {
    const [px, from, to] = [x.at(at), y.at(low), y.at(high)];
    return line(px, from, px, to, colour, 1.2) + line(px - 4, from, px + 4, from, colour, 1.2) + line(px - 4, to, px + 4, to, colour, 1.2);
  });
  const dots = series.dots
    ? series.points.map(([at, value]) => `<circle cx="${round(x.at(at))}" cy="${round(y.at(value))}" r="3.2" fill="${colour}"/>`)
    : [];
  return whiskers.join("") + dots.join("");
}

/** Lines over a common axis: time series, distributions. */
export function lineChart(chart: LineChart, width: number, height: number, theme: Theme): Drawing {
  const { span } = chart;
  const [xLow, xHigh] = bounds(chart.series, 0, chart.x.log === true);
  const [yLow, yHigh] = bounds(chart.series, 1, chart.y.log === true, span);
  const bottom = height - 46;
  const draft = scale(chart.y, Math.min(yLow, chart.y.log ? yLow : 0), yHigh, bottom, 20);
  const left = verticalRoom(draft) + 2;
  const right = width - 16;
  const named = legend(chart.legend === false ? [] : chart.series, left, right, theme);
  const top = named.height + 12;
  const x = scale(span ? { ...chart.x, low: span.from, high: span.to } : chart.x, xLow, xHigh, left, right);
  const y = scale(chart.y, Math.min(yLow, chart.y.log ? yLow : 0), yHigh, bottom, top);
  const paths = chart.series.map((one, at) => {
    const { colour, dash } = stroke(theme, one.colour ?? at);
    let path = "";
    for (const [vx, vy] of one.points) {
      if (!Number.isFinite(vy)) continue;
      const [px, py] = [round(x.at(vx)), round(y.at(vy))];
      path += path === "" ? `M${px} ${py}` : chart.steps ? `H${px}V${py}` : `L${px} ${py}`;
    }
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="${dash}"/>` + points(one, x, y, colour);
  });
  const marks = (chart.marks ?? []).filter((mark) => mark.x >= x.low && mark.x <= x.high).map((mark) => {
    const at = x.at(mark.x);
    return line(at, top, at, bottom, theme.soft) + text(at + 4, top + 11, mark.text, { fill: theme.soft, size: 11 });
  });
  // Drawings of a page share its names.
  const id = `plot${(charts += 1)}`;
  const clip = `<clipPath id="${id}"><rect x="${left}" y="${top - 2}" width="${right - left + 2}" height="${bottom - top + 4}"/></clipPath>`;
  const content =
    rect(left, top, right - left, bottom - top, "none") +
    verticalAxis(y, left, top, right, bottom, theme) +
    horizontalAxis(x, bottom, left, right, theme) +
    `<defs>${clip}</defs><g clip-path="url(#${id})">${paths.join("")}</g>` +
    marks.join("") +
    named.svg;
  const hover = (px: number): Hover | null => {
    if (px < left || px > right) return null;
    const value = x.back(px);
    const say = (axis: AxisSpec, of: number) => axis.format?.(of) ?? withUnit(of, axis.unit ?? "");
    const rows = chart.series.slice(0, 12).map((one) => {
      const point = pointAt(one.points, value);
      const name = chart.series.length > 1 ? `${one.name}: ` : "";
      return point ? `${name}${say(chart.y, point[1])}` : "";
    });
    return { x: px, y: top, text: [say(chart.x, value), ...rows].join("\n"), cursor: true };
  };
  return {
    svg: document(width, height, theme, chart.title, content),
    width,
    height,
    inner: { left, top, right, bottom },
    across: { at: x.at, back: x.back },
    hover,
  };
}
