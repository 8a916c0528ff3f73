/** The rows of a comparison turned: a line for each quantity, a cell for each trial. */
import type { Cell, Compare, Row } from "../api/types";
import { plain, withUnit } from "../draw/numbers";

interface Quantity {
  column: string;
  label: string;
  difference?: string;
  say: (value: number) => string;
}

const QUANTITIES: Quantity[] = [
  { column: "time_ns", label: "time", difference: "time_difference_percent", say: (value) => withUnit(value, "ns", 5) },
  { column: "busbw_gbytes_per_s", label: "busbw", difference: "busbw_difference_percent", say: (value) => `${value.toFixed(2)} GB/s` },
  { column: "percent_of_ideal", label: "ideal", say: (value) => `${value.toFixed(2)} %` },
  { column: "fct_p99_ns", label: "FCT P99", difference: "fct_p99_difference_percent", say: (value) => withUnit(value, "ns", 5) },
  { column: "compute_ns", label: "computing", say: (value) => withUnit(value, "ns", 5) },
  { column: "exposed_ns", label: "exposed communication", say: (value) => withUnit(value, "ns", 5) },
  { column: "bubble_ns", label: "bubble", say: (value) => withUnit(value, "ns", 5) },
  { column: "mfu_percent", label: "MFU", say: (value) => `${value.toFixed(1)} %` },
  { column: "tokens_per_s", label: "tokens per second", say: (value) => plain(Math.floor(value)) },
  { column: "ttft_p50_ns", label: "time to first token, P50", say: (value) => withUnit(value, "ns", 5) },
  { column: "ttft_p99_ns", label: "time to first token, P99", say: (value) => withUnit(value, "ns", 5) },
  { column: "tpot_p50_ns", label: "time per output token, P50", say: (value) => withUnit(value, "ns", 5) },
  { column: "tpot_p99_ns", label: "time per output token, P99", say: (value) => withUnit(value, "ns", 5) },
  { column: "frames_delta", label: "frames not accepted", say: (value) => plain(value) },
  { column: "retransmitted_frames", label: "frames retransmitted", say: (value) => plain(value) },
  { column: "rx_marked_frames", label: "CE received", say: (value) => plain(value) },
  { column: "cnp_frames", label: "CNP sent", say: (value) => plain(value) },
  { column: "dropped_frames", label: "frames dropped", say: (value) => plain(value) },
  { column: "xoff_frames", label: "XOFF frames", say: (value) => plain(value) },
  { column: "paused_ns", label: "ports paused", say: (value) => withUnit(value, "ns") },
];

export interface Line {
  /** Lines of one group have one heading. */
  group: number;
  what: string;
  of: string;
  /** In the order of the trials; null where a trial has no such row, or no value in it. */
  cells: ({ text: string; difference: number | null } | null)[];
}

type Rows = Pick<Compare, "trials" | "columns" | "rows" | "places">;

/** Which job, collective and size the rows of a group are of. */
function heading(rows: Cell[][], cell: (row: Cell[], column: string) => Cell): string {
  const common = (column: string) => {
    const values = new Set(rows.map((row) => cell(row, column)));
    return values.size === 1 ? [...values][0] : undefined;
  };
  const job = common("job_name");
  const collective = common("collective");
  if (job === "" && collective === null) return "whole trial";
  const size = common("size_bytes");
  // Where each trial has one job, these belong together whatever their names.
  const parts = [collective, typeof size === "number" ? withUnit(size, "bytes") : null].filter(Boolean);
  return `${job ?? "job"}: ${parts.join(", ") || "whole job"}`;
}

/** Each cell stands under the trial that the answer names for its row. */
export function comparedLines({ trials, columns, rows, places }: Rows): Line[] {
  const at = new Map(columns.map((column, place) => [column.name, place]));
  const cell = (row: Cell[], column: string): Cell => row[at.get(column) ?? -1] ?? null;
  const groups = new Map<number, Map<number, Cell[]>>();
  places.forEach(({ trial, group }, place) => {
    const row = rows[place];
    if (row) groups.set(group, (groups.get(group) ?? new Map<number, Cell[]>()).set(trial, row));
  });
  const seen = new Map<string, number>();
  const lines: Line[] = [];
  for (const [group, ofTrials] of groups) {
    const name = heading([...ofTrials.values()], cell);
    const equal = (seen.get(name) ?? 0) + 1;
    seen.set(name, equal);
    const what = equal > 1 ? `${name}, no. ${equal}` : name;
    for (const quantity of QUANTITIES) {
      const values = trials.map((trial) => {
        const row = ofTrials.get(trial.id);
        const value = row ? cell(row, quantity.column) : null;
        if (!row || typeof value !== "number") return null;
        const difference = quantity.difference ? cell(row, quantity.difference) : null;
        return { value, text: quantity.say(value), difference: typeof difference === "number" ? difference : null };
      });
      if (values.some((one) => one && one.value !== 0)) lines.push({ group, what, of: quantity.label, cells: values.map((one) => one && { text: one.text, difference: one.difference }) });
    }
  }
  return lines;
}

/** A percentage with its sign. */
export function signed(percent: number): string {
  const sign = percent > 0 ? "+" : percent < 0 ? "−" : "±";
  return `${sign}${plain(Math.abs(percent), 3)} %`;
}

export interface Alike {
  name: string;
  rows: Row[];
  /** How many seeds there are among them. */
  seeds: number;
}

/** Settings in which trials of one configuration may differ. */
const UNLIKE = new Set(["name", "description", "seed"]);

/** Trials whose configurations differ in their seed alone, together; their names do not matter. */
export function alike(data: Pick<Compare, "trials" | "config">, trials: Row[]): Alike[] {
  const settings = data.config.filter((setting) => !UNLIKE.has(setting.path));
  const found = new Map<string, Row[]>();
  for (const trial of trials) {
    const place = data.trials.findIndex((one) => one.id === trial.id);
    const key = JSON.stringify(settings.map((setting) => setting.values[place]));
    found.set(key, [...(found.get(key) ?? []), trial]);
  }
  return [...found.values()].map((rows) => {
    const name = rows[0]?.name ?? "";
    const seeds = new Set(rows.map((row) => row.seed)).size;
    return { name: seeds > 1 ? name.replace(/[-_ ,]*seed[-_ ]?\d+$/i, "") : name, rows, seeds };
  });
}
