/** What a whole is made of, as stretches of one bar. */
import { swatches } from "./legend";
import { percent, withUnit } from "./numbers";
import { document, type Drawing, rect } from "./svg";
import { stroke, type Theme } from "./theme";

/** Name, value and colour. */
export type Part = [string, number, number];

export interface Parts {
  title: string;
  unit: string;
  parts: Part[];
}

const HIGH = 22;

/** The share of each part, from 0 to 1. */
export function shares(parts: readonly Part[]): number[] {
  const whole = parts.reduce((sum, [, value]) => sum + value, 0);
  return parts.map(([, value]) => (whole > 0 ? value / whole : 0));
}

/** The bar, with a legend of its numbers where the text around it has none. */
export function partsPicture(of: Parts, width: number, theme: Theme, legend: boolean): Drawing {
  const colours = of.parts.map(([, , colour]) => stroke(theme, colour).colour);
  const share = shares(of.parts);
  const said = of.parts.map(([name, value], at) => `${name}: ${withUnit(value, of.unit)}, ${percent(share[at] ?? 0)}`);
  const ends: number[] = [];
  let [svg, x] = [rect(0, 0, width, HIGH, theme.rule), 0];
  share.forEach((part, at) => {
    if (part > 0) svg += rect(x, 0, part * width, HIGH, colours[at] ?? theme.ink);
    x += part * width;
    ends.push(x);
  });
  const named = swatches(legend ? said.map((name, at) => ({ name, colour: colours[at] ?? theme.ink })) : [], 0, width, HIGH + 8, theme);
  const height = legend ? named.bottom : HIGH;
  return {
    svg: document(width, height, theme, of.title, svg + named.svg),
    width,
    height,
    inner: { left: 0, top: 0, right: width, bottom: HIGH },
    hover: (px, py) => {
      const at = ends.findIndex((end, part) => px <= end && (share[part] ?? 0) > 0);
      const text = said[at];
      return py <= HIGH && text !== undefined ? { x: px, y: py, text } : null;
    },
  };
}
