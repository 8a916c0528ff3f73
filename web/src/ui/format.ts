import type { Row } from "../api/types";
import { withUnit } from "../draw/numbers";

/** The title of a browser tab: what is special first, as tabs are narrow. */
export function tabTitle(words: readonly string[]): string {
  return [...new Set(words.filter(Boolean)), "Tenter"].join(" · ");
}

/** A moment in the reader's own time zone, to the second. */
export function moment(seconds: number | null | undefined): string {
  if (typeof seconds !== "number") return "—";
  const date = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat("en").format(value)} ${value === 1 ? one : many}`;
}

/** The job completion time of a row, in the unit that fits, as all times of lists and plots. */
export function jct(row: Pick<Row, "jct_ns">): string {
  return typeof row.jct_ns === "number" ? withUnit(row.jct_ns, "ns", 5) : "—";
}

/** Which job the completion time of a row is of. */
export function jctOf(row: Pick<Row, "jct_job" | "jobs">): string | undefined {
  if (!row.jct_job) return undefined;
  return (row.jobs ?? 1) > 1 ? `of ${row.jct_job}, the longest job` : `of ${row.jct_job}`;
}

export const hundredths = (value: number | null | undefined): string => (typeof value === "number" ? value.toFixed(2) : "—");
