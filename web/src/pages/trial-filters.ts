/** Conditions by which trials are listed: `jct_ns < 10us`, `size 1MiB..16MiB`, `variant spray`. */
import { timesOf } from "../draw/numbers";
import { decoded, type Kind } from "../ui/view-kinds";
import type { TrialColumn, Value } from "./trial-columns";

export interface Filter {
  key: string;
  /** What is typed behind the name of the column. */
  condition: string;
}

const escaped = (text: string): string => text.replace(/[%|~]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

/** The filters in the address: `jct_ns~<10us|variant~spray`. */
export const FILTERS: Kind<readonly Filter[]> = {
  read: (given) =>
    (given ?? "")
      .split("|")
      .map((part) => /^([^~]+)~(.+)$/.exec(part))
      .flatMap((found) => (found ? [{ key: decoded(found[1] ?? ""), condition: decoded(found[2] ?? "") }] : [])),
  write: (filters) => filters.map(({ key, condition }) => `${escaped(key)}~${escaped(condition)}`).join("|") || undefined,
};

/** A number with a unit, in that of a column; without a unit it is in that of the column. */
function amount(text: string, unit: string): number | undefined {
  const found = /^(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([a-zA-Zµ/%]*)$/.exec(text.trim());
  if (!found) return undefined;
  const value = Number((found[1] ?? "").replaceAll(",", ""));
  const given = found[2] ?? "";
  if (given === "" || given === unit) return value;
  const times = timesOf(given, unit);
  return times === undefined ? undefined : value * times;
}

const COMPARED: Record<string, (value: number, bound: number) => boolean> = {
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
  "=": (value, bound) => Math.abs(value - bound) <= Math.abs(bound) * 1e-12,
  "!=": (value, bound) => Math.abs(value - bound) > Math.abs(bound) * 1e-12,
};

export type Test = (value: Value) => boolean;

/** What a condition asks of a value of the column; nothing where it cannot be read. */
export function testOf(column: Pick<TrialColumn, "kind" | "unit" | "say">, condition: string): Test | undefined {
  const [, sign = "", rest = ""] = /^\s*(<=|>=|!=|<|>|=)?\s*(.*?)\s*$/.exec(condition) ?? [];
  if (rest === "") return undefined;
  if (column.kind === "text") {
    if (sign === "=" || sign === "!=") return (value) => (column.say(value) === rest) === (sign === "=");
    const word = rest.toLowerCase();
    return sign ? undefined : (value) => value !== undefined && column.say(value).toLowerCase().includes(word);
  }
  const [low, high] = rest.split("..").map((part) => amount(part, column.unit));
  if (rest.includes("..")) return sign || low === undefined || high === undefined ? undefined : (value) => typeof value === "number" && value >= low && value <= high;
  const compared = COMPARED[sign || "="];
  return low === undefined || !compared ? undefined : (value) => typeof value === "number" && compared(value, low);
}

/** How a condition of a column may look. */
export function exampleOf({ kind, unit }: Pick<TrialColumn, "kind" | "unit">): string {
  if (kind === "text") return "a word, or = text";
  if (unit === "ns") return "< 10us, or 10us..2ms";
  if (unit === "bytes") return ">= 1MiB, or 1MiB..16MiB";
  if (unit === "bit/s" || unit === "Gb/s") return ">= 400Gb/s";
  return "> 5, or 5..10";
}
