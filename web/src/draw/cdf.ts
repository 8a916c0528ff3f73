/** Distributions of times as lines, or their tails, which show the slowest few. */
import type { LineChart, Series } from "./lines";

/** Value in ns and the share of all values up to it, in ascending order. */
export type Steps = readonly (readonly [number, number])[];

export interface Distribution {
  name: string;
  points: Steps;
  colour?: number;
}

/** The chart of distributions; a tail has both axes logarithmic, and counts what is greater than a value. */
export function cdfChart(title: string, label: string, lines: readonly Distribution[], tail: boolean): LineChart {
  const pointsOf = (points: Steps): Series["points"] => {
    if (tail) return points.filter(([, share]) => share < 1).map(([value, share]) => [value, 1 - share] as const);
    const first = points[0]?.[0];
    return first === undefined ? [] : [[first, 0] as const, ...points];
  };
  const percent = (digits: number) => (share: number) => `${Number((share * 100).toPrecision(digits))} %`;
  return {
    title,
    steps: true,
    series: lines.map((line) => ({ ...line, points: pointsOf(line.points) })),
    x: { label, unit: "ns", log: tail },
    y: tail
      ? { label: "Share of flows that take longer", log: true, format: percent(2) }
      : { label: "Share of flows", low: 0, high: 1, values: [0, 0.25, 0.5, 0.75, 1], format: percent(5) },
  };
}
