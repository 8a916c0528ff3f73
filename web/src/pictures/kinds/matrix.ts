/** A value for each pair of two axes. */
import { matrix as drawn, type Matrix } from "../../draw/matrix";
import { headed, type Kind } from "../kind";

export const matrix: Kind<Matrix> = {
  draw: drawn,
  numbers: (spec) => ({
    columns: [spec.down, spec.across, headed("value", spec.unit)],
    rows: spec.rows.flatMap((row, at) => spec.columns.map((column, place) => [row, column, spec.values[at]?.[place] ?? null])),
  }),
};
