/** Heads, cells and filters of tables in words. */
import type { Cell, Column } from "../api/types";
import { plain } from "../draw/numbers";

type Named = Pick<Column, "name" | "kind">;

/** A column's name as a heading: the unit is said apart. */
export function heading(column: Column): string {
  const suffixes = ["_gbytes_per_s", "_ns", "_bytes", "_gbps", "_percent", "_bps", "_s"];
  const suffix = column.unit ? suffixes.find((one) => column.name.endsWith(one)) : undefined;
  const words = (suffix ? column.name.slice(0, -suffix.length) : column.name).replaceAll("_", " ");
  const named = words.replace(/\b(fct|jct|ecn|pfc|xoff|xon|qp|cnp|nic|psn|rtt|udp|p50|p95|p99|p999)\b/g, (word) => word.toUpperCase()).replace(/^P(\d)/, "P$1");
  return named.charAt(0).toUpperCase() + named.slice(1);
}

export function cellText(value: Cell): string {
  if (value === null) return "—";
  if (typeof value === "number") return Number.isInteger(value) ? plain(value) : plain(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value;
}

export const numeric = (column: Pick<Column, "kind">): boolean => column.kind !== "text" && column.kind !== "flag";

/** Numbers that name something, of which nobody asks for the greater. */
const NUMBERED = new Set(["job", "node", "port", "peer", "class", "rank", "iteration"]);

/** A filter that the table understands, as an example. */
export function example(columns: Named[]): string {
  const has = (name: string) => columns.find((column) => column.name === name);
  const first = has("fct_ns") ?? has("utilisation") ?? has("queue_high_water_bytes") ?? columns.find((column) => numeric(column) && !NUMBERED.has(column.name)) ?? columns.find(numeric);
  if (!first) return columns[0] ? `${columns[0].name} ~ text` : "column = value";
  const bound = first.name === "utilisation" ? "0.9" : first.name.endsWith("_ns") ? "100us" : first.name.endsWith("_bytes") ? "1MiB" : "1000";
  const second = has("src_rank") ? " and src_rank = 3" : has("node_name") ? " and node_name ~ leaf" : "";
  return `${first.name} > ${bound}${second}`;
}
