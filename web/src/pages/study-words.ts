/** What lists of studies say of them. */
import type { StudyCase, StudyRow } from "../api/types";

type Tally = Pick<StudyRow, "rows" | "required" | "required_matches" | "not_judged" | "quick" | "left_out">;

/** The outcome of a study, and the look of the state that says so. */
export function outcome(study: Tally): { text: string; state: "" | "done" | "failed" } {
  const leftOut = study.left_out.length > 0 ? `; left out: ${study.left_out.join(", ")}` : "";
  const missed = study.required - study.required_matches;
  if (study.rows === 0 && !leftOut) return { text: "not run: no quick form", state: "" };
  if (missed > 0) return { text: `${missed} of ${study.required} required missed${leftOut}`, state: "failed" };
  if (study.required > 0) return { text: `holds${leftOut}`, state: "done" };
  if (study.not_judged > 0) return { text: `not judged${study.quick ? ": quick form" : ""}${leftOut}`, state: "" };
  return { text: `nothing required${leftOut}`, state: "" };
}

const UNITS: Record<string, string> = { ms: "ms", us: "µs", ns: "ns", s: "s", percent: "%", gbps: "Gb/s", bytes: "bytes" };

/** A column's name as words with its unit: `completion_time_ms` is “completion time (ms)”. */
export function metricName(metric: string): string {
  const words = metric.split("_");
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ""] : undefined;
  return unit ? `${words.slice(0, -1).join(" ")} (${unit})` : words.join(" ");
}

export const caseName = (one: Pick<StudyCase, "case" | "bar">): string => [one.case, one.bar].filter(Boolean).join(", ");

/** The name of the bar of a row. */
export const seriesName = (one: Pick<StudyCase, "bar" | "variant">): string => one.bar ?? one.variant;
