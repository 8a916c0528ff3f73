/** The order of the texts in a table's cells. */
import { SIZES } from "../draw/numbers";
import type { Kind } from "./view-kinds";

/** The number that a cell begins with; the text where it has none. */
function valueOf(text: string): number | string {
  const number = /^[+-]?[\d,]*\.?\d+(e[+-]?\d+)?/i.exec(text.replace("−", "-"));
  if (!number) return text;
  const value = Number(number[0].replaceAll(",", ""));
  const unit = /^[\s\u00a0]*([a-zA-Zµ/]+)/.exec(text.slice(number[0].length))?.[1] ?? "";
  // Of a quotient without a name of its own, the numerator counts: `10 ms/step`.
  const size = SIZES.get(unit) ?? SIZES.get(unit.split("/")[0] ?? "") ?? 1;
  return Number.isFinite(value) ? value * size : text;
}

function compare(a: string, b: string, direction: 1 | -1): number {
  const [one, other] = [valueOf(a.trim()), valueOf(b.trim())];
  if (typeof one === "number" && typeof other === "number") return direction * (one - other);
  // What has no number is at the end, whatever is asked for first.
  if (typeof one === "number") return -1;
  if (typeof other === "number") return 1;
  return direction * one.localeCompare(other, "en", { numeric: true });
}

export interface Sort {
  column: number;
  direction: 1 | -1;
}

/** The order in the address: the place of the column, `-` for the greatest first. */
export const ORDER: Kind<Sort | undefined> = {
  read: (given) => {
    const [, minus, place] = /^(-?)(\d+)$/.exec(given ?? "") ?? [];
    return place === undefined ? undefined : { column: Number(place) - 1, direction: minus ? -1 : 1 };
  },
  write: (sort) => (sort ? `${sort.direction < 0 ? "-" : ""}${sort.column + 1}` : undefined),
};

/** A click on a head: ascending, descending, and the order of the table again. */
export function clicked(sort: Sort | undefined, column: number): Sort | undefined {
  if (sort?.column !== column) return { column, direction: 1 };
  return sort.direction === 1 ? { column, direction: -1 } : undefined;
}

/** The rows that have a word in any of their cells, in an order. */
export function arranged(rows: string[][], sort: Sort | undefined, word: string): string[][] {
  const wanted = word.trim().toLowerCase();
  const shown = wanted ? rows.filter((row) => row.some((cell) => cell.toLowerCase().includes(wanted))) : rows;
  if (!sort) return shown;
  return [...shown].sort((a, b) => compare(a[sort.column] ?? "", b[sort.column] ?? "", sort.direction));
}
