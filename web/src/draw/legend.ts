/** What colours of boxes stand for, as a part of a drawing. */
import { fit, swatch, text, textWidth } from "./svg";
import type { Theme } from "./theme";

export interface Entry {
  name: string;
  colour: string;
}

/** Entries beside each other, in as many rows as they need, from `top` on. */
export function swatches(entries: readonly Entry[], left: number, right: number, top: number, theme: Theme): { svg: string; bottom: number } {
  let [x, y] = [left, top];
  let svg = "";
  for (const { name, colour } of entries) {
    const said = fit(name, right - left - 20);
    const width = textWidth(said) + 34;
    if (x > left && x + width - 16 > right) [x, y] = [left, y + 18];
    svg += swatch(x, y, colour) + text(x + 16, y + 10, said, { fill: theme.ink });
    x += width;
  }
  return { svg, bottom: entries.length > 0 ? y + 18 : top };
}
