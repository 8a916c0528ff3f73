import { plain } from "./numbers";
import { type AxisSpec, scale } from "./axes";
import { document, type Drawing, fit, line, rect, text, textWidth } from "./svg";
import { stroke, type Theme } from "./theme";

export interface Bar {
  name: string;
  /** Missing where nothing was measured. */
  value: number | null;
  /** Bars of a group follow each other, below its name. */
  group?: string;
  colour?: number;
  /** Ends of a whisker: an interval, or least and greatest over seeds. */
  low?: number;
  high?: number;
  /** Single values, drawn as dots: one per seed. */
  dots?: number[];
  /** A published value, and the band around it. */
  published?: number;
  band?: [number, number];
  text?: string;
  /** What is said under the pointer; its numbers unless given. */
  say?: string;
}

export interface BarChart {
  title: string;
  bars: Bar[];
  value: AxisSpec;
}

const ROW = 28;
const HEADING = 30;

/** The top of each bar, and of each name of a group. */
function rowsOf(bars: Bar[], top: number): { tops: number[]; headings: { name: string; y: number }[]; bottom: number } {
  const headings: { name: string; y: number }[] = [];
  let [y, last] = [top, undefined as string | undefined];
  const tops = bars.map((bar) => {
    if (bar.group !== undefined && bar.group !== last) {
      headings.push({ name: bar.group, y });
      y += HEADING;
      last = bar.group;
    }
    y += ROW;
    return y - ROW;
  });
  return { tops, headings, bottom: y };
}

/** Horizontal bars with whiskers, dots of seeds and published values. */
export function barChart(chart: BarChart, width: number, theme: Theme): Drawing {
  const say = (bar: Bar) => bar.text ?? (bar.value === null ? "–" : plain(bar.value));
  const names = Math.min(width * 0.36, Math.max(60, ...chart.bars.map((bar) => textWidth(bar.name) + 12)));
  const ends = Math.max(40, ...chart.bars.map((bar) => textWidth(say(bar)) + 14));
  const [left, right, top] = [names, width - ends, 6];
  const { tops, headings, bottom } = rowsOf(chart.bars, top);
  const all = chart.bars.flatMap((bar) => [bar.value ?? 0, bar.low ?? 0, bar.high ?? 0, bar.published ?? 0, ...(bar.band ?? []), ...(bar.dots ?? [])]);
  const [least, most] = [Math.min(0, ...all), Math.max(0, ...all)];
  const x = scale({ ...chart.value, low: chart.value.low ?? least }, least, most, left, right);
  // Bars begin at 0, or where an axis without it begins.
  const origin = x.at(Math.min(Math.max(0, x.low), x.high));
  const rows = chart.bars.map((bar, at) => {
    const y = tops[at] ?? top;
    const middle = y + ROW / 2;
    const { colour } = stroke(theme, bar.colour ?? 0);
    let svg = text(left - 8, middle + 4, fit(bar.name, names - 10), { fill: theme.ink, anchor: "end" });
    if (bar.band) {
      const [from, to] = bar.band.map(x.at) as [number, number];
      svg += rect(from, y + 2, to - from, ROW - 4, theme.ink, 'fill-opacity=".09" stroke-dasharray="3 2"');
    }
    const tip = bar.value === null || !Number.isFinite(bar.value) ? origin : x.at(bar.value);
    if (tip !== origin) svg += rect(Math.min(origin, tip), y + 6, Math.abs(tip - origin), ROW - 12, colour, 'rx="2" class="bar"');
    let end = Math.max(origin, tip);
    if (bar.low !== undefined && bar.high !== undefined) {
      const [from, to] = [x.at(bar.low), x.at(bar.high)];
      svg += `<g class="whisker">${line(from, middle, to, middle, theme.ink, 1.3)}`;
      svg += line(from, middle - 4, from, middle + 4, theme.ink, 1.3) + line(to, middle - 4, to, middle + 4, theme.ink, 1.3) + "</g>";
      end = Math.max(end, to);
    }
    const dots = bar.dots ?? [];
    // Below each other, so that equal values are seen.
    const apart = Math.min(2.4, (ROW - 12) / Math.max(dots.length, 1));
    dots.forEach((dot, seed) => {
      const at = middle + (seed - (dots.length - 1) / 2) * apart;
      end = Math.max(end, x.at(dot) + 3);
      svg += `<circle cx="${x.at(dot)}" cy="${at}" r="2.6" fill="${theme.ground}" stroke="${theme.ink}"/>`;
    });
    if (bar.published !== undefined) {
      const at = x.at(bar.published);
      svg += `<path d="M${at} ${middle - 6}l6 6l-6 6l-6 -6z" fill="${theme.ground}" stroke="${theme.ink}" stroke-width="1.3"/>`;
      end = Math.max(end, at + 6);
    }
    return svg + text(Math.min(end, right) + 6, middle + 4, say(bar), { fill: theme.ink });
  });
  const axis = x.ticks.map(
    (tick) =>
      line(x.at(tick.value), top, x.at(tick.value), bottom, theme.rule) +
      text(x.at(tick.value), bottom + 16, tick.text, { fill: theme.soft, anchor: "middle" }),
  );
  const height = bottom + 42;
  const zero = least < 0 ? line(origin, top, origin, bottom, theme.soft) : "";
  const content =
    axis.join("") +
    zero +
    headings.map((one) => text(4, one.y + 20, fit(one.name, width - 8), { fill: theme.ink, weight: 600 })).join("") +
    rows.join("") +
    text((left + right) / 2, bottom + 35, x.title, { fill: theme.ink, anchor: "middle" });
  return {
    svg: document(width, height, theme, chart.title, content),
    width,
    height,
    inner: { left, top, right, bottom },
    hover: (px, py) => {
      const bar = chart.bars[tops.findIndex((y) => y <= py && py < y + ROW)];
      if (!bar) return null;
      if (bar.say) return { x: px, y: py, text: bar.say };
      const rest = [
        bar.low !== undefined && bar.high !== undefined ? `from ${plain(bar.low)} to ${plain(bar.high)}` : "",
        bar.published !== undefined ? `published: ${plain(bar.published)}` : "",
        bar.band ? `band: ${plain(bar.band[0])} to ${plain(bar.band[1])}` : "",
      ].filter(Boolean);
      return { x: px, y: py, text: [`${bar.name}: ${say(bar)}`, ...rest].join("\n") };
    },
  };
}

/** A line without axes, as wide as a cell of a table. */
export function sparkline(values: readonly number[], width: number, height: number, theme: Theme, title: string): string {
  const shown = values.filter((value) => Number.isFinite(value));
  const top = Math.max(100, ...shown);
  const at = (index: number) => (shown.length < 2 ? width / 2 : 2 + (index / (shown.length - 1)) * (width - 4));
  const y = (value: number) => height - 2 - (value / top) * (height - 4);
  const points = shown.map((value, index) => `${at(index).toFixed(1)},${y(value).toFixed(1)}`);
  const last = shown.at(-1);
  const mark =
    last === undefined ? "" : `<circle cx="${at(shown.length - 1)}" cy="${y(last)}" r="2" fill="${theme.accent}"/>`;
  const drawn =
    shown.length > 1
      ? `<polyline points="${points.join(" ")}" fill="none" stroke="${theme.accent}" stroke-width="1.4"/>`
      : "";
  return document(width, height, { ...theme, ground: "transparent" }, title, drawn + mark);
}
