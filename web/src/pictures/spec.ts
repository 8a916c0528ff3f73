/** The data of a picture, as `crates/tenter/src/report/pictures/plot.rs` writes it. */
import type { AxisSpec } from "../draw/axes";
import type { CellMap } from "../draw/cells";
import type { Chain as ChainOf } from "../draw/chain";
import type { CircuitPicture } from "../draw/circuits";
import type { Series } from "../draw/lines";
import type { Matrix as Pairs } from "../draw/matrix";
import type { Operations as OperationsOf } from "../draw/operations";
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

export type Spec = Lines | Heat | Timeline | Cells | Matrix | Circuits | Operations | Parts | Chain;
