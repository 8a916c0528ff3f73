/** Rows of cells, coloured by one of their metrics. */
import { type CellMap, cellMap } from "../../draw/cells";
import { headed, type Kind } from "../kind";

export const cells: Kind<CellMap> = {
  draw: (spec, width, theme, { metric }) => cellMap(spec, metric, width, theme),
  numbers: (spec) => ({
    columns: ["row", "cell", "rate (bit/s)", ...spec.metrics.map((metric) => headed(metric.name, metric.unit))],
    rows: spec.rows.flatMap((row) => row.cells.map((cell) => [row.name, cell.name, cell.rate_bps, ...cell.values])),
  }),
};
