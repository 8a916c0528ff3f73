/** The timeline of data chunks: filter, zoom, move; the server sends what a pixel can show. */
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import * as api from "../api/client";
import { plain, withUnit } from "../draw/numbers";
import { canvasPen, svgPen } from "../draw/pen";
import { document as svgDocument, type Hover } from "../draw/svg";
import { AXIS, barAt, type Bars, drawTimeline, NAMES, pixelOf, sayBar, timeAt, timelineHeight } from "../draw/timeline";
import { download, toPng } from "../draw/save";
import { isReport } from "../embedded";
import { TIMELINE_WIDTH } from "../views";
import { useLoad, useSettled } from "./load";
import { Pending, Search, Select } from "./parts";
import { DrawingTools, Tip, useWidth } from "./plot";
import { useShown } from "./router";
import { useCursor } from "./cursor";
import { useTheme } from "./theme";
import { range as span, type Range, text } from "./view-kinds";

export function TimelineView({ id, jobs, onPin }: { id: string; jobs: string[]; onPin?: (query: string) => void }) {
  const theme = useTheme();
  const [place, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [range, setRange] = useShown("span", span);
  const [job, setJob] = useShown("job", text);
  const [search, setSearch] = useShown("rank", text);
  const [hover, setHover] = useState<Hover | null>(null);
  const [linked, point] = useCursor("time");
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const settled = useSettled(JSON.stringify([range, search]), 120);
  const [asked, filter] = JSON.parse(settled) as [Range | null, string];
  const rank = /\d+/.exec(filter)?.[0];
  // A report has all chunks as they were when it was written, and enlarges what it has.
  const query = isReport ? { width: TIMELINE_WIDTH } : {
    ...(asked ?? {}),
    ...(job ? { job: Number(job) } : {}),
    ...(rank ? { rank: Number(rank) } : {}),
    width: Math.max(width - NAMES, 100),
  };
  const loaded = useLoad(width > 0 ? `timeline:${id}:${JSON.stringify(query)}` : null, (signal) => api.timeline(id, query, signal));
  const whole = useRef<Range | null>(null);
  const data = loaded.data;
  if (data) whole.current = { from: data.first_ns, to: data.last_ns };
  // What is on its way is drawn from what is there, so that moving never waits.
  const lanes = data?.lanes.map((lane) => ({ job: lane.job, name: lane.first_rank === lane.last_rank ? `rank ${lane.first_rank}` : `ranks ${lane.first_rank} to ${lane.last_rank}` })) ?? [];
  const shown: Bars | undefined = data ? { ...data, lanes, ...(range ? { from_ns: range.from, to_ns: range.to } : {}) } : undefined;
  const height = timelineHeight(shown ?? { lanes: [] });
  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0 || !shown) return undefined;
    const frame = requestAnimationFrame(() => {
      const ratio = window.devicePixelRatio || 1;
      element.width = width * ratio;
      element.height = (height - AXIS) * ratio;
      const context = element.getContext("2d");
      if (!context) return;
      context.scale(ratio, ratio);
      context.fillStyle = theme.ground;
      context.fillRect(0, 0, width, height);
      drawTimeline(canvasPen(context), shown, width, theme);
      if (drag) {
        context.fillStyle = `${theme.accent}33`;
        context.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), height);
      }
    });
    return () => cancelAnimationFrame(frame);
  });
  const bound = (next: Range): void => {
    const all = whole.current;
    if (!all) return;
    const span = Math.min(Math.max(next.to - next.from, 50), all.to - all.from);
    const from = Math.min(Math.max(next.from, all.from), all.to - span);
    setRange(span >= all.to - all.from ? null : { from, to: from + span });
  };
  const zoom = (by: number, middle?: number) => {
    if (!shown) return;
    const at = middle ?? (shown.from_ns + shown.to_ns) / 2;
    bound({ from: at - (at - shown.from_ns) * by, to: at + (shown.to_ns - at) * by });
  };
  const slide = (share: number) => {
    if (!shown) return;
    const by = (shown.to_ns - shown.from_ns) * share;
    bound({ from: shown.from_ns + by, to: shown.to_ns + by });
  };
  const key = (event: KeyboardEvent) => {
    const act: Record<string, () => void> = {
      "+": () => zoom(0.6),
      "=": () => zoom(0.6),
      "-": () => zoom(1 / 0.6),
      "0": () => setRange(null),
      ArrowLeft: () => slide(-0.2),
      ArrowRight: () => slide(0.2),
    };
    const one = act[event.key];
    if (!one) return;
    event.preventDefault();
    one();
  };
  const at = (event: PointerEvent<HTMLElement>): [number, number] => {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const [x, y] = at(event);
    if (drag) return setDrag({ ...drag, to: Math.max(x, NAMES) });
    const found = shown ? barAt(shown, width, x, y) : undefined;
    const bar = found === undefined ? undefined : shown?.bars[found];
    setHover(bar && shown ? { x, y, text: sayBar(shown, bar) } : null);
    point(shown && x > NAMES ? timeAt(shown, width, x) : undefined);
  };
  const release = () => {
    if (drag && shown && Math.abs(drag.to - drag.from) > 4) {
      const [a, b] = [timeAt(shown, width, drag.from), timeAt(shown, width, drag.to)];
      bound({ from: Math.min(a, b), to: Math.max(a, b) });
    }
    setDrag(null);
  };
  // A file has the axis, too, which is a drawing of its own here.
  const file = (bars: Bars) => {
    const { pen, content } = svgPen();
    const axis = drawTimeline(pen, bars, width, theme);
    return { svg: svgDocument(width, height, theme, "Timeline", content() + axis), width, height };
  };
  const saveSvg = () => {
    if (shown) download("timeline.svg", file(shown).svg, "image/svg+xml");
  };
  const savePng = () => {
    if (shown) toPng(file(shown), "timeline.png");
  };
  const there = shown && linked !== undefined ? pixelOf(shown, width, linked) : undefined;
  const numbers = {
    columns: ["lane", "start_ns", "end_ns", "chunks"],
    rows: (data?.bars ?? []).map(([lane = 0, start = 0, end = 0, , count = 1]) => [lanes[lane]?.name ?? "", start, end, count]),
  };
  return (
    <section aria-label="Timeline">
      <div className="controls">
        {isReport ? null : <Search label="Filter by rank" placeholder="Rank that sends or receives" value={search} onChange={setSearch} />}
        {jobs.length > 1 && !isReport ? (
          <Select label="Job" value={job} options={[{ value: "", label: "All" }, ...jobs.map((name, index) => ({ value: String(index), label: name }))]} onChange={setJob} />
        ) : null}
        <button type="button" onClick={() => zoom(0.6)} aria-label="Enlarge">
          +
        </button>
        <button type="button" onClick={() => zoom(1 / 0.6)} aria-label="Reduce">
          −
        </button>
        <button type="button" onClick={() => slide(-0.4)} aria-label="Earlier" disabled={!range}>
          ←
        </button>
        <button type="button" onClick={() => slide(0.4)} aria-label="Later" disabled={!range}>
          →
        </button>
        <button type="button" onClick={() => setRange(null)} disabled={!range}>
          Show all
        </button>
        <span className="soft" role="status">
          {data ? `${plain(data.total)} chunks${data.merged ? ", merged where they share a pixel" : ""}` : ""}
          {shown ? `, ${withUnit(shown.to_ns - shown.from_ns, "ns")}` : ""}
        </span>
      </div>
      {jobs.length > 1 ? (
        <p className="legend">
          {jobs.map((name, index) => (
            <span key={name}>
              <i style={{ background: theme.series[index % theme.series.length] }} />
              {name}
            </span>
          ))}
        </p>
      ) : null}
      <figure className="plot">
        <div
          ref={place}
          className="canvas"
          role="group"
          tabIndex={0}
          aria-label="Timeline of data chunks. + and − zoom, the arrows move, 0 shows all; the table of data chunks has the numbers."
          onKeyDown={key}
          onPointerDown={(event) => {
            const [x] = at(event);
            if (x > NAMES) setDrag({ from: x, to: x });
          }}
          onPointerMove={move}
          onPointerUp={release}
          onPointerLeave={() => {
            setHover(null);
            setDrag(null);
            point(undefined);
          }}
        >
          <canvas ref={canvas} style={{ height: height - AXIS }} aria-hidden="true" />
          {shown ? <Axis data={shown} width={width} /> : null}
          {there !== undefined && there > NAMES && there < width ? <i className="cursor" style={{ left: there, top: 0, height: height - AXIS }} /> : null}
          {hover ? <Tip hover={hover} width={width} /> : null}
        </div>
        {data && data.bars.length === 0 ? <p className="empty">No chunk fits.</p> : null}
        {data ? null : <Pending loading={loaded.loading} problem={loaded.problem} />}
        <DrawingTools title="the timeline, as it is shown" file="timeline" numbers={() => numbers} onSvg={saveSvg} onPng={savePng} onPin={onPin ? () => onPin("timeline") : undefined} />
      </figure>
    </section>
  );
}

function Axis({ data, width }: { data: Bars; width: number }) {
  const theme = useTheme();
  if (width === 0) return null;
  const axis = drawAxis(data, width, theme);
  return <div dangerouslySetInnerHTML={{ __html: svgDocument(width, AXIS, theme, "Time axis", axis) }} />;
}

function drawAxis(data: Bars, width: number, theme: ReturnType<typeof useTheme>): string {
  const none = { lines: () => undefined, boxes: () => undefined, text: () => undefined };
  return drawTimeline(none, { ...data, lanes: [], bars: [] }, width, theme);
}
