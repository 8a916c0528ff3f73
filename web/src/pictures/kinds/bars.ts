/** Bars below each other. */
import { barChart, type BarChart } from "../../draw/bars";
import { headed, type Kind } from "../kind";

/** More bars than these are in the table alone. */
export const DRAWN = 64;

export const bars: Kind<BarChart> = {
  draw: (spec, width, theme) => barChart({ ...spec, bars: spec.bars.slice(0, DRAWN) }, Math.min(width, 900), theme),
  numbers: (spec) => ({
    columns: ["bar", headed(spec.value.label, spec.value.unit)],
    rows: spec.bars.map((bar) => [bar.name, bar.value]),
  }),
};
