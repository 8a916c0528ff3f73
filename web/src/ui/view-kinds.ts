/** How values of a view are written in the address of a page: a sort as `-fct_ns`, a range as `100..250`. */

export interface Kind<T> {
  /** The value that the address has; what it says wrongly is as if it said nothing. */
  read: (text: string | null) => T;
  /** Its text; none where it is the value that a page begins with. */
  write: (value: T) => string | undefined;
}

export interface Sort {
  key: string;
  order: "asc" | "desc";
}

export interface Range {
  from: number;
  to: number;
}

export const text: Kind<string> = { read: (given) => given ?? "", write: (value) => value || undefined };

/** One of some words, the first unless told otherwise. */
export function word<W extends string>(words: readonly W[], first: W | undefined = words[0]): Kind<W> {
  return {
    read: (given) => words.find((one) => one === given) ?? (first as W),
    write: (value) => (value === first ? undefined : value),
  };
}

export const flag: Kind<boolean> = { read: (given) => given === "1", write: (value) => (value ? "1" : undefined) };

/** A number, or none. */
export const number: Kind<number | null> = {
  read: (given) => (given !== null && given.trim() !== "" && Number.isFinite(Number(given)) ? Number(given) : null),
  write: (value) => (value === null ? undefined : String(value)),
};

/** The column that rows are in the order of; a minus is for the greatest first. */
export function sort(key: string, order: Sort["order"]): Kind<Sort> {
  return {
    read: (given) => (given ? { key: given.replace(/^-/, ""), order: given.startsWith("-") ? "desc" : "asc" } : { key, order }),
    write: (value) => (value.key === key && value.order === order ? undefined : `${value.order === "desc" ? "-" : ""}${value.key}`),
  };
}

/** The text that was percent-encoded; one that was not, as an address written by hand, is itself. */
export function decoded(given: string): string {
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}

/** Names with commas between them; `first` are those that a page begins with. */
export function list(first: readonly string[] = []): Kind<readonly string[]> {
  return {
    read: (given) => (given === null ? first : given.split(",").filter(Boolean).map(decoded)),
    write: (value) => (value.join() === first.join() ? undefined : value.map((one) => one.replace(/[%,]/g, encodeURIComponent)).join(",") || ","),
  };
}

/** A stretch of a time or another axis, or all of it. */
export const range: Kind<Range | null> = {
  read: (given) => {
    const [, from, to] = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\.\.(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(given ?? "") ?? [];
    const found = { from: Number(from), to: Number(to) };
    return from !== undefined && Number.isFinite(found.from) && found.from < found.to ? found : null;
  },
  // Twelve digits are a picosecond in a second; more are noise of the pointer.
  write: (value) => (value === null ? undefined : `${Number(value.from.toPrecision(12))}..${Number(value.to.toPrecision(12))}`),
};
