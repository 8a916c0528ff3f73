/** Data chunks one after the other, each of which waited for the one before. */
import { horizontalAxis, scale } from "./axes";
import { withUnit } from "./numbers";
import { shareRamp } from "./ramp";
import { document, type Drawing, rect } from "./svg";
import { css, ramp, type Theme } from "./theme";

export interface Chain {
  title: string;
  /** Name of the axis of time. */
  label: string;
  to_ns: number;
  /** What the colour is a share of. */
  shade: string;
  /** What is said of each bar. */
  names: string[];
  /** Name and unit of what a bar has beside its times and its colour. */
  columns: [string, string][];
  /** Start, end, the share that its colour shows, and a number for each column. */
  bars: number[][];
}

const [TOP, HIGH] = [26, 30];

/** Pale is not invisible. */
const shade = (theme: Theme, share: number): string => css(ramp(theme, 0.25 + 0.75 * share));

export function chainPicture(of: Chain, width: number, theme: Theme): Drawing {
  const [left, right, bottom] = [8, width - 8, TOP + HIGH + 4];
  const x = scale({ label: of.label, unit: "ns" }, 0, of.to_ns, left, right);
  const ends = of.bars.map(([start = 0, end = 0]) => [x.at(start), x.at(end)] as const);
  const bars = of.bars.map(([, , share = 0], at) => {
    const [from, to] = ends[at] ?? [0, 0];
    return rect(from, TOP, Math.max(to - from - 0.6, 0.6), HIGH, shade(theme, share));
  });
  const key = shareRamp(right, 5, [`${of.shade}  0`, "100 %"], (share) => shade(theme, share), theme);
  const height = bottom + 44;
  return {
    svg: document(width, height, theme, of.title, key + bars.join("") + horizontalAxis(x, bottom, left, right, theme)),
    width,
    height,
    inner: { left, top: TOP, right, bottom },
    hover: (px, py) => {
      const at = ends.findIndex(([from, to]) => from <= px && px <= Math.max(to, from + 1));
      const bar = of.bars[at];
      if (!bar || py < TOP || py > bottom) return null;
      const more = of.columns.map(([name, unit], column) => `${name} ${withUnit(bar[3 + column] ?? 0, unit)}`);
      return { x: px, y: py, text: [of.names[at] ?? "", ...more].join("\n") };
    },
  };
}
