/** Answers of the server for unit tests, with what a test says and nothing else. */
import type { Cell, Compare, Row } from "../api/types";

export const row = (id: number, name: string, more: Partial<Row> = {}): Row => ({
  id,
  name,
  state: "done",
  tags: [],
  created: id,
  fabric: "leaf-spine, 8 NICs",
  ideals: [],
  ...more,
});

/** A row of a comparison: its trial, its group, and its cells by their columns. */
export interface Placed {
  trial: number;
  group: number;
  cells: Record<string, Cell>;
}

export function comparison(trials: Row[], placed: Placed[]): Compare {
  const names = ["trial", ...new Set(placed.flatMap((one) => Object.keys(one.cells)))];
  const name = (id: number) => `${trials.find((trial) => trial.id === id)?.name} (${id})`;
  return {
    trials,
    columns: names.map((column) => ({ name: column, unit: "", meaning: "", kind: "float", optional: true })),
    rows: placed.map((one) => names.map((column) => (column === "trial" ? name(one.trial) : (one.cells[column] ?? null)))),
    places: placed.map(({ trial, group }) => ({ trial, group })),
    text: "",
    config: [],
    cdfs: [],
    remarks: [],
  };
}
