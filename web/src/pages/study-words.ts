/** What lists of studies say of them. */
import type { StudyCase, StudyRow } from "../api/types";

/** Whether the required rows of a study match, and the look of the state that says so. */
export function requiredWords({ required, required_matches }: Pick<StudyRow, "required" | "required_matches">): { text: string; state: "" | "done" | "failed" } {
  if (required === 0) return { text: "none required", state: "" };
  if (required_matches === required) return { text: required === 1 ? "matches" : `all ${required} match`, state: "done" };
  return { text: `${required - required_matches} of ${required} miss`, state: "failed" };
}

const UNITS: Record<string, string> = { ms: "ms", us: "µs", ns: "ns", s: "s", percent: "%", gbps: "Gb/s", bytes: "bytes" };

/** A column's name as words with its unit: `completion_time_ms` is “completion time (ms)”. */
export function metricName(metric: string): string {
  const words = metric.split("_");
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ""] : undefined;
  return unit ? `${words.slice(0, -1).join(" ")} (${unit})` : words.join(" ");
}

export const caseName = (one: Pick<StudyCase, "case" | "bar">): string => [one.case, one.bar].filter(Boolean).join(", ");

/** Every metric of a study, in the order of its cases. */
export const metrics = (cases: Pick<StudyCase, "metric">[]): string[] => [...new Set(cases.map((one) => one.metric))];
