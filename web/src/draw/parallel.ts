/** Parallel coordinates: an axis for each quantity, a line for each trial. */
import { plain } from "./numbers";
import { document, type Drawing, fit, line, text } from "./svg";
import { css, ramp, type Theme } from "./theme";

export interface Axis {
  name: string;
  /** Words of an axis that has no numbers, in their order. */
  words?: string[];
  unit?: string;
}

export interface Parallel {
  title: string;
  axes: Axis[];
  /** The last lines are drawn over the others. */
  lines: { name: string; values: (number | null)[] }[];
  /** The axis whose values give the colours. */
  coloured?: number;
}

export function parallel(data: Parallel, width: number, height: number, theme: Theme): Drawing {
  const [left, right, top, bottom] = [60, width - 70, 58, height - 24];
  const step = data.axes.length > 1 ? (right - left) / (data.axes.length - 1) : 0;
  const ranges = data.axes.map((axis, at) => {
    if (axis.words) return [0, Math.max(axis.words.length - 1, 1)] as const;
    const values = data.lines.flatMap((one) => one.values[at] ?? []);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low < high ? ([low, high] as const) : ([low - 0.5, low + 0.5] as const);
  });
  const share = (at: number, value: number): number => {
    const [low, high] = ranges[at] ?? [0, 1];
    return (value - low) / (high - low);
  };
  const y = (at: number, value: number) => bottom - share(at, value) * (bottom - top);
  const axes = data.axes.map((axis, at) => {
    const x = left + at * step;
    const [low, high] = ranges[at] ?? [0, 1];
    const ends = axis.words
      ? axis.words.map((word, index) => text(x + 6, y(at, index) + 4, fit(word, Math.max(step - 12, 60), 11), { fill: theme.soft, size: 11 }))
      : [text(x, bottom + 15, plain(low), { fill: theme.soft, anchor: "middle", size: 11 }), text(x, top - 7, plain(high), { fill: theme.soft, anchor: "middle", size: 11 })];
    const name = axis.unit ? `${axis.name} (${axis.unit})` : axis.name;
    const anchor = at === 0 ? "start" : at === data.axes.length - 1 ? "end" : "middle";
    const title = text(anchor === "start" ? 4 : anchor === "end" ? width - 4 : x, 14 + (at % 2) * 16, fit(name, Math.max(step * 1.8, 120)), { fill: theme.ink, anchor });
    return line(x, top, x, bottom, theme.soft) + ends.join("") + title;
  });
  const drawn = data.lines.map((one) => {
    const points = one.values.flatMap((value, at) => (value === null ? [] : [`${(left + at * step).toFixed(1)},${y(at, value).toFixed(1)}`]));
    const value = one.values[data.coloured ?? -1];
    const part = value === null || value === undefined ? 0 : share(data.coloured ?? -1, value);
    const colour = css(ramp(theme, 0.25 + 0.75 * part));
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-opacity=".85"/>`;
  });
  return {
    svg: document(width, height, theme, data.title, drawn.join("") + axes.join("")),
    width,
    height,
    inner: { left, top, right, bottom },
    hover: (px, py) => {
      let [best, least] = [-1, 9];
      const at = Math.min(Math.max((px - left) / (step || 1), 0), data.axes.length - 1);
      const [a, b] = [Math.floor(at), Math.ceil(at)];
      data.lines.forEach((one, index) => {
        const [from, to] = [one.values[a], one.values[b]];
        if (from === null || from === undefined || to === null || to === undefined) return;
        const there = y(a, from) + (y(b, to) - y(a, from)) * (at - a);
        if (Math.abs(there - py) < least) [best, least] = [index, Math.abs(there - py)];
      });
      const one = data.lines[best];
      if (!one) return null;
      const values = data.axes.map((axis, index) => {
        const value = one.values[index];
        const shown = value === null || value === undefined ? "—" : (axis.words?.[value] ?? plain(value));
        return `${axis.name}: ${shown} ${axis.unit ?? ""}`;
      });
      return { x: px, y: py, text: [one.name, ...values].join("\n") };
    },
  };
}
