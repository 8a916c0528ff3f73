/** Operations of ranks over time: a lane for each stream or parallelism, below those of its rank. */
import { swatches } from "./legend";
import { plain, withUnit } from "./numbers";
import { svgPen } from "./pen";
import { document, type Drawing, textWidth } from "./svg";
import { stroke, type Theme } from "./theme";
import { AXIS, barAt, type Bars, drawTimeline, timelineHeight } from "./timeline";

export interface Lane {
  rank: number;
  name: string;
  colour: number;
}

/**
 * Lane, start, duration, how many operations it stands for, and whether it is light; of a single operation also the place of
 * its kind, its number at its rank, the other rank of its message, its bytes, and whether it is on the critical path.
 */
export type OperationBar = (number | null)[];

export interface Operations {
  title: string;
  /** Name of the axis of time. */
  label: string;
  to_ns: number;
  lanes: Lane[];
  /** Colours and what they stand for. */
  legend: [number, string][];
  kinds: string[];
  bars: OperationBar[];
}

/** What is known of a bar, by name. */
export function readBar(of: Pick<Operations, "lanes" | "kinds">, bar: OperationBar) {
  const [lane, start, took, count, light, kind, operation, peer, bytes, critical] = bar;
  const { rank = 0, name = "" } = of.lanes[lane ?? 0] ?? {};
  const single = typeof kind === "number" ? { kind: of.kinds[kind] ?? "", operation: operation ?? 0, peer: peer ?? null, bytes: bytes ?? 0, critical: critical === 1 } : undefined;
  return { rank, lane: name, start: start ?? 0, took: took ?? 0, count: count ?? 1, light: light === 1, single };
}

/** What is said of a bar under the pointer. */
export function sayOperation(of: Pick<Operations, "lanes" | "kinds">, bar: OperationBar): string {
  const { rank, lane, start, took, count, single } = readBar(of, bar);
  const times = `${withUnit(start, "ns")} – ${withUnit(start + took, "ns")}`;
  if (!single) return `rank ${rank}, ${lane}: ${plain(count)} operations\n${times}`;
  const peer = single.peer === null ? "" : ` ${single.kind === "send" ? "to" : "from"} rank ${single.peer}`;
  return [
    `rank ${rank}, ${single.kind} ${single.operation}${peer}`,
    single.bytes > 0 ? withUnit(single.bytes, "bytes", 3) : "",
    `${times}, ${withUnit(took, "ns")}`,
    single.critical ? "on the critical path" : "",
  ]
    .filter(Boolean)
    .join("\n");
}

export function operationsPicture(of: Operations, width: number, theme: Theme): Drawing {
  const groups = of.lanes.map((lane) => `rank ${lane.rank}`);
  const widest = (texts: string[]) => Math.max(0, ...texts.map((one) => textWidth(one, 11)));
  const names = Math.min(Math.ceil(widest(groups) + widest(of.lanes.map((lane) => lane.name)) + 22), width * 0.4);
  const legend = swatches(
    of.legend.map(([colour, name]) => ({ name, colour: stroke(theme, colour).colour })),
    names,
    width - 8,
    2,
    theme,
  );
  const data: Bars = {
    from_ns: 0,
    to_ns: of.to_ns,
    lanes: of.lanes.map(({ name, colour }) => ({ name, job: colour })),
    groups,
    bars: of.bars.map(([lane, start, took]) => [lane ?? 0, start ?? 0, (start ?? 0) + (took ?? 0)]),
    light: of.bars.map((bar) => bar[4] === 1),
    label: of.label,
    names,
    top: legend.bottom + 4,
  };
  const height = timelineHeight(data);
  const { pen, content } = svgPen();
  const axis = drawTimeline(pen, data, width, theme);
  return {
    svg: document(width, height, theme, of.title, legend.svg + content() + axis),
    width,
    height,
    inner: { left: names, top: legend.bottom + 4, right: width - 8, bottom: height - AXIS },
    hover: (x, y) => {
      const place = barAt(data, width, x, y);
      const bar = place === undefined ? undefined : of.bars[place];
      return bar ? { x, y, text: sayOperation(of, bar) } : null;
    },
  };
}
