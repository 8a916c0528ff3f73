/** Bars over time, in lanes. */
import { withUnit } from "../../draw/numbers";
import { svgPen } from "../../draw/pen";
import { document, textWidth } from "../../draw/svg";
import { AXIS, barAt, type Bars, drawTimeline, timelineHeight } from "../../draw/timeline";
import { headed, type Kind } from "../kind";

export interface Timeline {
  title: string;
  label: string;
  from_ns: number;
  to_ns: number;
  lanes: string[];
  /** What each number of a bar is, with its unit where it has one: `["frames", ""]`. */
  columns: [string, string][];
  /** The column whose bars have an edge that warns, where it is not 0. */
  marked: number | null;
  /** Lane, start, end, colour, and a number for each column. */
  bars: number[][];
}

export const timeline: Kind<Timeline> = {
  draw: (spec, width, theme) => {
    const names = Math.min(Math.max(40, ...spec.lanes.map((name) => textWidth(name, 11) + 14)), width * 0.4);
    const data: Bars = {
      from_ns: spec.from_ns,
      to_ns: spec.to_ns,
      lanes: spec.lanes.map((name) => ({ name, job: 0 })),
      bars: spec.bars,
      colours: spec.bars.map((bar) => bar[3] ?? 0),
      marked: spec.bars.map((bar) => spec.marked !== null && (bar[4 + spec.marked] ?? 0) > 0),
      label: spec.label,
      names,
    };
    const height = timelineHeight(data);
    const { pen, content } = svgPen();
    const axis = drawTimeline(pen, data, width, theme);
    return {
      // The axis is drawn below the lanes, in a drawing of its own in the workspace.
      svg: document(width, height, theme, spec.title, content() + axis),
      width,
      height,
      inner: { left: names, top: 0, right: width - 8, bottom: height - AXIS },
      hover: (px, py) => {
        const place = barAt(data, width, px, py);
        const bar = place === undefined ? undefined : spec.bars[place];
        if (!bar) return null;
        const more = spec.columns.map(([name, unit], at) => `${name} ${withUnit(bar[4 + at] ?? 0, unit)}`);
        const times = `${withUnit(bar[1] ?? 0, "ns", 6)} to ${withUnit(bar[2] ?? 0, "ns", 6)}, ${withUnit((bar[2] ?? 0) - (bar[1] ?? 0), "ns")}`;
        return { x: px, y: py, text: [spec.lanes[bar[0] ?? 0] ?? "", times, ...more].join("\n") };
      },
    };
  },
  numbers: (spec) => ({
    columns: ["lane", "start (ns)", "end (ns)", ...spec.columns.map(([name, unit]) => headed(name, unit))],
    rows: spec.bars.map((bar) => [spec.lanes[bar[0] ?? 0] ?? "", bar[1] ?? 0, bar[2] ?? 0, ...bar.slice(4)]),
  }),
};
