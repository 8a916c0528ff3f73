/** What a report has of a drawing: its data, as `crates/tenter-report/src/html/plot.rs` writes it. */
import type { AxisSpec } from "../draw/axes";
import type { Bar } from "../draw/bars";
import type { CellMap } from "../draw/cells";
import type { Chain as ChainOf } from "../draw/chain";
import type { CircuitPicture } from "../draw/circuits";
import type { Link, Node } from "../draw/layout";
import type { Series } from "../draw/lines";
import type { Matrix as Pairs } from "../draw/matrix";
import type { Operations as OperationsOf } from "../draw/operations";
import type { Axis } from "../draw/parallel";
import type { Parts as PartsOf } from "../draw/parts";

export interface Lines {
  kind: "lines";
  title: string;
  height: number;
  steps: boolean;
  x: AxisSpec;
  y: AxisSpec;
  series: Series[];
}

export interface Heat {
  kind: "heat";
  title: string;
  /** Name of the axis of time. */
  label: string;
  rows: string[];
  times: number[];
  end: number;
  to: number;
  values: number[][];
  unit: string;
  max: number;
}

export interface Timeline {
  kind: "timeline";
  title: string;
  label: string;
  from_ns: number;
  to_ns: number;
  lanes: string[];
  /** Pixels for their names. */
  names: number;
  /** What each number of a bar is, with its unit where it has one: `["frames", ""]`. */
  columns: [string, string][];
  /** The column whose bars have an edge that warns, where it is not 0. */
  marked: number | null;
  /** Lane, start, end, colour, and a number for each column. */
  bars: number[][];
}

/** What cables are coloured by: a value for each, in the order of `links`. */
export interface Metric {
  name: string;
  unit: string;
  /** The value that has the full colour. */
  full: number;
  /** What the first end of each cable sends, and what the other end sends; null where nobody has read it. */
  values: [number | null, number | null][];
}

export interface Fabric {
  kind: "fabric";
  title: string;
  height: number;
  nodes: Node[];
  links: Link[];
  /** By the words of the buttons that choose one. */
  metrics: Record<string, Metric>;
}

export interface Bars {
  kind: "bars";
  title: string;
  label: string;
  bars: Bar[];
}

export interface Parallel {
  kind: "parallel";
  title: string;
  height: number;
  axes: Axis[];
  /** Values are shares of the height of an axis. */
  lines: { name: string; values: number[]; share: number }[];
}

export interface Cells extends CellMap {
  kind: "cells";
}

export interface Matrix extends Pairs {
  kind: "matrix";
}

export interface Circuits extends CircuitPicture {
  kind: "circuits";
}

export interface Operations extends OperationsOf {
  kind: "operations";
}

export interface Parts extends PartsOf {
  kind: "parts";
}

export interface Chain extends ChainOf {
  kind: "chain";
}

export type Spec = Lines | Heat | Timeline | Fabric | Bars | Parallel | Cells | Matrix | Circuits | Operations | Parts | Chain;
