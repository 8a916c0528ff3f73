/** The numbers of a drawing as a table: what is saved as CSV, and read by those who cannot see it. */
import { type Carried, nameOf } from "../draw/circuits";
import { readBar } from "../draw/operations";
import { shares } from "../draw/parts";
import type { Circuits, Spec } from "./spec";

export interface Numbers {
  columns: string[];
  rows: (string | number | null)[][];
}

const headed = (label: string, unit: string | undefined): string => (unit ? `${label} (${unit})` : label);

export function numbersOf(spec: Spec): Numbers {
  switch (spec.kind) {
    case "lines":
      return {
        columns: ["line", headed(spec.x.label, spec.x.unit), headed(spec.y.label, spec.y.unit)],
        rows: spec.series.flatMap((one) => one.points.map(([x, y]) => [one.name, x, y])),
      };
    case "heat":
      return {
        columns: ["", headed(spec.label, "ns"), headed("value", spec.unit)],
        rows: spec.rows.flatMap((name, row) => spec.times.map((time, at) => [name, time, spec.values[row]?.[at] ?? 0])),
      };
    case "timeline":
      return {
        columns: ["lane", "start (ns)", "end (ns)", ...spec.columns.map(([name, unit]) => headed(name, unit))],
        rows: spec.bars.map((bar) => [spec.lanes[bar[0] ?? 0] ?? "", bar[1] ?? 0, bar[2] ?? 0, ...bar.slice(4)]),
      };
    case "cells":
      return {
        columns: ["row", "cell", "rate (bit/s)", ...spec.metrics.map((metric) => headed(metric.name, metric.unit))],
        rows: spec.rows.flatMap((row) => row.cells.map((cell) => [row.name, cell.name, cell.rate_bps, ...cell.values])),
      };
    case "matrix":
      return {
        columns: [spec.down, spec.across, headed("value", spec.unit)],
        rows: spec.rows.flatMap((row, at) => spec.columns.map((column, place) => [row, column, spec.values[at]?.[place] ?? null])),
      };
    case "circuits":
      return circuitNumbers(spec);
    case "operations":
      return {
        columns: ["rank", "lane", "start (ns)", "duration (ns)", "operations", "kind", "operation", "peer rank", "payload (bytes)", "critical path"],
        rows: spec.bars.map((bar) => {
          const { rank, lane, start, took, count, single } = readBar(spec, bar);
          const own = single ? [single.kind, single.operation, single.peer, single.bytes, single.critical ? "yes" : "no"] : [null, null, null, null, null];
          return [rank, lane, start, took, count, ...own];
        }),
      };
    case "parts": {
      const share = shares(spec.parts);
      return {
        columns: ["part", headed("value", spec.unit), "share (%)"],
        rows: spec.parts.map(([name, value], at) => [name, value, Number(((share[at] ?? 0) * 100).toPrecision(6))]),
      };
    }
    case "chain":
      return {
        columns: ["chunk", "start (ns)", "end (ns)", `${spec.shade} (share)`, ...spec.columns.map(([name, unit]) => headed(name, unit))],
        rows: spec.bars.map((bar, at) => [spec.names[at] ?? "", ...bar]),
      };
  }
}

/** Each way of each link, then the links within boxes, and the ports without a circuit. */
function circuitNumbers({ boxes, bundles }: Circuits): Numbers {
  const ways = (kind: string, from: string, to: string, { count, rate_bps, busy, bytes }: Carried) =>
    ([0, 1] as const).map((way) => [kind, way === 0 ? from : to, way === 0 ? to : from, count, rate_bps, busy ? busy[way] * 100 : null, busy ? bytes[way] : null]);
  const name = (at: number) => nameOf(boxes[at]);
  const within = boxes.flatMap((box) => (box.inner ? ways("within", `${nameOf(box)}, lower`, `${nameOf(box)}, upper`, box.inner) : []));
  const dark = boxes.flatMap((box) => (box.dark ? [["dark ports", nameOf(box), "", box.dark, null, null, null]] : []));
  return {
    columns: ["kind", "from", "to", "links", "rate (bit/s)", "busy (%)", "bytes"],
    rows: [...bundles.flatMap((bundle) => ways(bundle.kind, name(bundle.ends[0]), name(bundle.ends[1]), bundle)), ...within, ...dark],
  };
}
