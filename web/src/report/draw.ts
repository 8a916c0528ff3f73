/** Drawings of a report, from their data. */
import { barChart } from "../draw/bars";
import { cellMap } from "../draw/cells";
import { chainPicture } from "../draw/chain";
import { circuits } from "../draw/circuits";
import { cableAt, cableLoad, drawFabric, type FabricPicture, fitted, nodeAt } from "../draw/fabric";
import { heatMap } from "../draw/heat";
import { layout } from "../draw/layout";
import { lineChart } from "../draw/lines";
import { matrix } from "../draw/matrix";
import { withUnit } from "../draw/numbers";
import { operationsPicture } from "../draw/operations";
import { parallel } from "../draw/parallel";
import { partsPicture } from "../draw/parts";
import { svgPen } from "../draw/pen";
import { loadRamp } from "../draw/ramp";
import { document as svgDocument, type Drawing } from "../draw/svg";
import type { Theme } from "../draw/theme";
import { AXIS, barAt, type Bars, drawTimeline, timelineHeight } from "../draw/timeline";
import type { Fabric, Spec, Timeline } from "./spec";

/** What a reader has chosen. */
export interface Choice {
  /** Lines that are switched off. */
  off: ReadonlySet<number>;
  /** What links and cells show. */
  metric: string;
  /** Whether names of lines and parts are in the drawing itself, as a file needs them. */
  legend: boolean;
}

export function draw(spec: Spec, width: number, theme: Theme, choice: Choice): Drawing {
  switch (spec.kind) {
    case "lines": {
      const series = spec.series.map((one, at) => ({ ...one, colour: one.colour ?? at })).filter((_, at) => !choice.off.has(at));
      return lineChart({ ...spec, series, legend: choice.legend }, width, spec.height, theme);
    }
    case "heat":
      return heatMap({ ...spec, say: (value) => withUnit(value, spec.unit) }, width, theme);
    case "timeline":
      return timeline(spec, width, theme);
    case "fabric":
      return fabric(spec, width, theme, choice.metric);
    case "bars":
      return barChart({ ...spec, value: { label: spec.label } }, width, theme);
    case "parallel":
      return parallel(spec, width, spec.height, theme);
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

/** The layout of a fabric takes longer than its drawing. */
const layouts = new WeakMap<Fabric, ReturnType<typeof layout>>();

function fabric(spec: Fabric, width: number, theme: Theme, chosen: string): Drawing {
  const metric = spec.metrics[chosen] ?? Object.values(spec.metrics)[0];
  const arranged = layouts.get(spec) ?? layout(spec.nodes, spec.links);
  layouts.set(spec, arranged);
  // Cables whose load nobody has read have the colour of those without any.
  const loads = Float32Array.from(metric?.values ?? [], ([one, other]) => {
    if (one === null && other === null) return -1;
    return metric && metric.full > 0 ? Math.max(one ?? 0, other ?? 0) / metric.full : 0;
  });
  const picture: FabricPicture = { nodes: spec.nodes, links: spec.links, layout: arranged, loads };
  const view = fitted(width, spec.height);
  const { pen, content } = svgPen();
  drawFabric(pen, picture, view, theme);
  const say = (value: number | null) => (value === null ? "not read" : withUnit(value, metric?.unit ?? ""));
  const sayCable = (at: number): string => {
    const cable = arranged.cables[at];
    const link = cable?.links[0] ?? 0;
    const [a, b] = [spec.nodes[cable?.a ?? 0]?.name, spec.nodes[cable?.b ?? 0]?.name];
    const [first, second] = spec.links[link]?.a === spec.nodes[cable?.a ?? 0]?.id ? [a, b] : [b, a];
    const [there, back] = metric?.values[link] ?? [0, 0];
    const rate = withUnit(spec.links[link]?.rate_bps ?? 0, "bit/s");
    return [`${a} – ${b}, ${rate}`, metric?.name ?? "", `${first} → ${second}: ${say(there)}`, `${second} → ${first}: ${say(back)}`].join("\n");
  };
  const sayNode = (at: number): string => {
    const own = arranged.cables.filter((cable) => cable.a === at || cable.b === at);
    const [only] = own;
    if (only && own.length === 1) return sayCable(arranged.cables.indexOf(only));
    const most = Math.max(0, ...own.map((cable) => cableLoad(picture, cable.links)));
    return `${spec.nodes[at]?.name}\n${own.length} cables\n${metric?.name ?? ""}: at most ${say(most * (metric?.full ?? 1))}`;
  };
  return {
    svg: svgDocument(width, spec.height, theme, spec.title, content() + loadRamp(width - 12, 4, say(metric?.full ?? 0), theme)),
    width,
    height: spec.height,
    inner: { left: 0, top: 0, right: width, bottom: spec.height },
    hover: (px, py) => {
      const node = nodeAt(picture, view, px, py);
      if (node !== undefined) return { x: px, y: py, text: sayNode(node) };
      const cable = cableAt(picture, view, px, py);
      return cable === undefined ? null : { x: px, y: py, text: sayCable(cable) };
    },
  };
}
