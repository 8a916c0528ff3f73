/** Lines over a common axis. */
import { type LineChart, lineChart } from "../../draw/lines";
import { headed, type Kind } from "../kind";

export interface Lines extends LineChart {
  height: number;
}

export const lines: Kind<Lines> = {
  draw: (spec, width, theme, { off, legend, span = null }) => {
    const series = spec.series.map((one, at) => ({ ...one, colour: one.colour ?? at })).filter((_, at) => !off.has(at));
    return lineChart({ ...spec, series, legend, span }, width, spec.height, theme);
  },
  numbers: (spec) => ({
    columns: ["line", headed(spec.x.label, spec.x.unit), headed(spec.y.label, spec.y.unit)],
    rows: spec.series.flatMap((one) => one.points.map(([x, y]) => [one.name, x, y])),
  }),
  axis: (spec) => spec.x.label,
};
