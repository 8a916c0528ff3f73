/** The stretch of an axis that is enlarged. */

export interface Span {
  from: number;
  to: number;
}

/** A horizontal axis as readers move on it. */
export interface Across {
  at: (value: number) => number;
  back: (pixel: number) => number;
}

export interface Ends {
  left: number;
  right: number;
}

/** The stretch between two pixels; none where they are too near to be meant, or beyond the ends. */
export function brushed(across: Across, { left, right }: Ends, from: number, to: number): Span | null {
  const [a, b] = [Math.max(Math.min(from, to), left), Math.min(Math.max(from, to), right)];
  return b - a < 5 ? null : { from: across.back(a), to: across.back(b) };
}

/** The stretch `by` times as wide around a pixel, within the whole; none where that is all of it. */
export function zoomed(across: Across, { left, right }: Ends, whole: Span, middle: number, by: number): Span | null {
  const from = Math.max(across.back(middle - (middle - left) * by), whole.from);
  const to = Math.min(across.back(middle + (right - middle) * by), whole.to);
  return from <= whole.from && to >= whole.to ? null : { from, to };
}
