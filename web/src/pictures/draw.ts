/** Drawings of pictures, from their data. */
import { cellMap } from "../draw/cells";
import { chainPicture } from "../draw/chain";
import { circuits } from "../draw/circuits";
import { heatMap } from "../draw/heat";
import { lineChart } from "../draw/lines";
import { matrix } from "../draw/matrix";
import { withUnit } from "../draw/numbers";
import { operationsPicture } from "../draw/operations";
import { partsPicture } from "../draw/parts";
import { svgPen } from "../draw/pen";
import { document as svgDocument, type Drawing } from "../draw/svg";
import type { Span } from "../draw/span";
import type { Theme } from "../draw/theme";
import { AXIS, barAt, type Bars, drawTimeline, timelineHeight } from "../draw/timeline";
import type { Spec, Timeline } from "./spec";

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

/** The name of the horizontal axis that a picture shares with others; of a time it is that of the trial. */
export function axisOf(spec: Spec): string | undefined {
  const label = spec.kind === "lines" ? spec.x.label : spec.kind === "heat" ? spec.label : undefined;
  return label?.toLowerCase().replaceAll(/\W+/g, "-");
}

export function draw(spec: Spec, width: number, theme: Theme, choice: Choice): Drawing {
  switch (spec.kind) {
    case "lines": {
      const series = spec.series.map((one, at) => ({ ...one, colour: one.colour ?? at })).filter((_, at) => !choice.off.has(at));
      return lineChart({ ...spec, series, legend: choice.legend, span: choice.span ?? null }, width, spec.height, theme);
    }
    case "heat":
      return heatMap({ ...spec, say: (value) => withUnit(value, spec.unit), span: choice.span ?? null }, width, theme);
    case "timeline":
      return timeline(spec, width, theme);
    case "cells":
      return cellMap(spec, choice.metric, width, theme);
    case "matrix":
      return matrix(spec, width, theme);
    case "circuits":
      return circuits(spec, width, theme);
    case "operations":
      return operationsPicture(spec, width, theme);
    case "parts":
      return partsPicture(spec, width, theme, choice.legend);
    case "chain":
      return chainPicture(spec, width, theme);
  }
}

function timeline(spec: Timeline, width: number, theme: Theme): Drawing {
  const data: Bars = {
    from_ns: spec.from_ns,
    to_ns: spec.to_ns,
    lanes: spec.lanes.map((name) => ({ name, job: 0 })),
    bars: spec.bars,
    colours: spec.bars.map((bar) => bar[3] ?? 0),
    marked: spec.bars.map((bar) => spec.marked !== null && (bar[4 + spec.marked] ?? 0) > 0),
    label: spec.label,
    names: spec.names,
  };
  const height = timelineHeight(data);
  const { pen, content } = svgPen();
  const axis = drawTimeline(pen, data, width, theme);
  return {
    // The axis is drawn below the lanes, in a drawing of its own in the workspace.
    svg: svgDocument(width, height, theme, spec.title, content() + axis),
    width,
    height,
    inner: { left: spec.names, top: 0, right: width - 8, bottom: height - AXIS },
    hover: (px, py) => {
      const place = barAt(data, width, px, py);
      const bar = place === undefined ? undefined : spec.bars[place];
      if (!bar) return null;
      const more = spec.columns.map(([name, unit], at) => `${name} ${withUnit(bar[4 + at] ?? 0, unit)}`);
      const times = `${withUnit(bar[1] ?? 0, "ns", 6)} to ${withUnit(bar[2] ?? 0, "ns", 6)}, ${withUnit((bar[2] ?? 0) - (bar[1] ?? 0), "ns")}`;
      return { x: px, y: py, text: [spec.lanes[bar[0] ?? 0] ?? "", times, ...more].join("\n") };
    },
  };
}
