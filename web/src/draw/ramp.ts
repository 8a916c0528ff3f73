/** What colours mean: a bar of them between the texts of its ends. */
import { rect, text, textWidth } from "./svg";
import { css, loadColour, ramp, type Theme } from "./theme";

/** The room for one with short texts, in pixels. */
export const RAMP = 220;
const STEPS = 24;
const STEP = 4;

/** The colours of shares from 0 to 1, the right end of the texts at `right`. */
export function shareRamp(right: number, top: number, [least, most]: [string, string], colour: (share: number) => string, theme: Theme): string {
  const left = right - STEPS * STEP - textWidth(most, 11) - 6;
  const steps = Array.from({ length: STEPS }, (_, at) => rect(left + at * STEP, top, STEP + 0.4, 10, colour(at / (STEPS - 1))));
  const label = { fill: theme.soft, size: 11 };
  return text(left - 6, top + 9, least, { ...label, anchor: "end" }) + steps.join("") + text(left + STEPS * STEP + 6, top + 9, most, label);
}

/** The colours of loads, the right end at `right`. */
export const loadRamp = (right: number, top: number, most: string, theme: Theme): string =>
  shareRamp(right, top, ["0", most], (share) => css(loadColour(theme, share)), theme);

/** The colours of cells, the right end at `right`. */
export const cellRamp = (right: number, top: number, ends: [string, string], theme: Theme): string =>
  shareRamp(right, top, ends, (share) => css(ramp(theme, share)), theme);
