import { isBinary, isScaled, logTicks, plain, ticks, unitFor, withUnit } from "./numbers";
import { line, text, textWidth } from "./svg";
import type { Theme } from "./theme";

export interface AxisSpec {
  label: string;
  /** Unit of the data: `ns`, `bytes`, `bit/s`, `%` or any other word. */
  unit?: string;
  log?: boolean;
  low?: number;
  high?: number;
  /** Texts of ticks where the unit does not say enough. */
  format?: (value: number) => string;
  values?: number[];
  /** The texts of `values`, where they are not their numbers. */
  texts?: string[];
}

/** Where a value lies, and what its ticks say. */
export interface Scale {
  at: (value: number) => number;
  back: (pixel: number) => number;
  ticks: { value: number; text: string }[];
  title: string;
  low: number;
  high: number;
}

export function scale(spec: AxisSpec, low: number, high: number, from: number, to: number): Scale {
  let [least, most] = [spec.low ?? low, spec.high ?? high];
  if (!Number.isFinite(least) || !Number.isFinite(most)) [least, most] = [0, 1];
  const log = spec.log === true && most > 0;
  if (log) least = Math.max(least, most / 1e9, 1e-12);
  if (most <= least) most = log ? least * 10 : least + (Math.abs(least) || 1);
  const f = log ? Math.log10 : (value: number) => value;
  const [a, b] = [f(least), f(most)];
  const unit = unitFor(spec.unit ?? "", Math.max(Math.abs(most), Math.abs(least)));
  // Over several powers of ten each value has a unit of its own; texts are wider than high.
  const each = log && isScaled(spec.unit ?? "") && !spec.format && !spec.texts;
  const count = Math.max(2, Math.abs(to - from) / (from > to ? 48 : 64));
  const values =
    spec.values ??
    (log
      ? logTicks(least, most, isBinary(spec.unit ?? ""))
      : ticks(least / unit.size, most / unit.size, count).map((value) => value * unit.size));
  const say = each ? (value: number) => withUnit(value, spec.unit ?? "") : spec.format ?? ((value: number) => plain(value / unit.size));
  return {
    at: (value) => from + ((f(log ? Math.max(value, least) : value) - a) / (b - a)) * (to - from),
    back: (pixel) => {
      const value = a + ((pixel - from) / (to - from)) * (b - a);
      return log ? 10 ** value : value;
    },
    // Of values that are given, an enlarged stretch has some.
    ticks: values.map((value, at) => ({ value, text: spec.texts?.[at] ?? say(value) })).filter(({ value }) => value >= least - (most - least) * 1e-9 && value <= most + (most - least) * 1e-9),
    title: unit.name && !each && !spec.format && !spec.texts ? `${spec.label} (${unit.name})` : spec.label,
    low: least,
    high: most,
  };
}

/** The room that the texts of a vertical axis take, its title among them. */
export function verticalRoom(axis: Scale): number {
  return Math.ceil(Math.max(...axis.ticks.map((tick) => textWidth(tick.text)), 12)) + 30;
}

export function horizontalAxis(axis: Scale, bottom: number, left: number, right: number, theme: Theme): string {
  let last = -Infinity;
  const marks = axis.ticks.map((tick) => {
    const x = axis.at(tick.value);
    const half = textWidth(tick.text) / 2;
    const shown = x - half > last + 6;
    if (shown) last = x + half;
    return (
      line(x, bottom, x, bottom + 4, theme.soft) +
      (shown ? text(Math.min(x, right + 10 - half), bottom + 17, tick.text, { fill: theme.soft, anchor: "middle" }) : "")
    );
  });
  return (
    line(left, bottom, right, bottom, theme.rule) +
    marks.join("") +
    text((left + right) / 2, bottom + 36, axis.title, { fill: theme.ink, anchor: "middle" })
  );
}

export function verticalAxis(axis: Scale, left: number, top: number, right: number, bottom: number, theme: Theme): string {
  const marks = axis.ticks.map((tick) => {
    const y = axis.at(tick.value);
    return (
      line(left, y, right, y, theme.rule) +
      text(left - 7, y + 4, tick.text, { fill: theme.soft, anchor: "end" })
    );
  });
  const x = left - verticalRoom(axis) + 13;
  return (
    marks.join("") +
    text(x, (top + bottom) / 2, axis.title, { fill: theme.ink, anchor: "middle", turn: true })
  );
}
