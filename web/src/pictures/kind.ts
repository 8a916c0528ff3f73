/** What a kind of picture is: how its data is drawn, and which numbers are beside the drawing. */
import type { Drawing } from "../draw/svg";
import type { Span } from "../draw/span";
import type { Theme } from "../draw/theme";

/** What a reader has chosen. */
export interface Choice {
  /** Lines that are switched off. */
  off: ReadonlySet<number>;
  /** What links and cells show. */
  metric: string;
  /** Whether names of lines and parts are in the drawing itself, as a file needs them. */
  legend: boolean;
  /** The stretch of the horizontal axis that is enlarged. */
  span?: Span | null;
}

/** The numbers of a drawing as a table: what is saved as CSV, and read by those who cannot see it. */
export interface Numbers {
  columns: string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** One kind of picture; `S` is its data. */
export interface Kind<S> {
  draw: (spec: S, width: number, theme: Theme, choice: Choice) => Drawing;
  numbers: (spec: S) => Numbers;
  /** The label of the horizontal axis, of a kind whose drawings can be enlarged along it. */
  axis?: (spec: S) => string;
}

/** The heading of a column of numbers. */
export const headed = (label: string, unit: string | undefined): string => (unit ? `${label} (${unit})` : label);
