/** Answers of the server for unit tests, with what a test says and nothing else. */
import type { Cell, Compare, Row, SweepDesign } from "../api/types";

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

/** A sweep over the uplink rate and a word, with two variants and a reading; trials have a place in it. */
export const design = (id: number, more: Partial<SweepDesign> = {}): SweepDesign => ({
  id,
  name: `sweep ${id}`,
  variants: ["ecmp", "spray"],
  axes: [
    { path: "fabric.uplink_rate", label: "uplink_rate", values: ["100Gbps", "400Gbps"], numbers: [1e11, 4e11], unit: "bit/s", log: false },
    { path: "fabric.kind", label: "kind", values: ["leaf-spine", "fat-tree"], numbers: null, unit: "", log: false },
  ],
  points: [
    ["100Gbps", "leaf-spine"],
    ["400Gbps", "fat-tree"],
  ],
  readings: [{ name: "p99 FCT", unit: "ns" }],
  ...more,
});

/** A trial of the design. */
export const swept = (id: number, sweep: number, variant: number, point: number, value: number | null): Row =>
  row(id, `trial ${id}`, { sweep, seed: String(id), jct_ns: 1000 * id, place: { variant, point, readings: [value] } });
