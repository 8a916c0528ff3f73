/** Rows over time, with their values in colour. */
import { type HeatMap, heatMap } from "../../draw/heat";
import { withUnit } from "../../draw/numbers";
import { headed, type Kind } from "../kind";

export interface Heat extends Omit<HeatMap, "say" | "span"> {
  /** Name of the axis of time. */
  label: string;
  unit: string;
}

export const heat: Kind<Heat> = {
  draw: (spec, width, theme, { span = null }) => heatMap({ ...spec, say: (value) => withUnit(value, spec.unit), span }, width, theme),
  numbers: (spec) => ({
    columns: ["", headed(spec.label, "ns"), headed("value", spec.unit)],
    rows: spec.rows.flatMap((name, row) => spec.times.map((time, at) => [name, time, spec.values[row]?.[at] ?? 0])),
  }),
  axis: (spec) => spec.label,
};
