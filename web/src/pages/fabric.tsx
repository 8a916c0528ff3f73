/** The fabric of a trial with what happened on it, over time. */
import { useEffect, useMemo, useState } from "react";
import * as api from "../api/client";
import type { Load, LoadedFabric } from "../api/types";
import { percent, plain, withUnit } from "../draw/numbers";
import { css, loadColour } from "../draw/theme";
import { csv, download } from "../draw/save";
import { FabricView } from "../ui/fabric-view";
import { useLoad, useSettled } from "../ui/load";
import { Pending, Select } from "../ui/parts";
import { go, type Route } from "../ui/router";
import { useTheme } from "../ui/theme";
import { TrialPage } from "../ui/trial";

const SHOWN = [
  { value: "utilisation", label: "Utilisation", unit: "", of: (load: Load) => load.utilisation },
  { value: "queue", label: "Queue depth", unit: "bytes", of: (load: Load) => load.queue_bytes },
  { value: "marks", label: "ECN marks", unit: "frames", of: (load: Load) => load.marked_frames ?? 0 },
  { value: "pauses", label: "Pauses", unit: "ns", of: (load: Load) => load.paused_ns ?? (load.paused ? 1 : 0) },
  { value: "drops", label: "Frames dropped", unit: "frames", of: (load: Load) => load.dropped_frames ?? 0 },
  { value: "jobs", label: "Jobs", unit: "", of: null },
] as const;

type Shown = (typeof SHOWN)[number];

export function FabricPage({ id, route }: { id: string | undefined; route: Route }) {
  return (
    <TrialPage id={id} page="fabric" title="Fabric">
      {(trial) => <Body key={trial.id} id={String(trial.id)} route={route} />}
    </TrialPage>
  );
}

function Body({ id, route }: { id: string; route: Route }) {
  const shown = SHOWN.find((one) => one.value === route.query.get("show")) ?? SHOWN[0];
  const [time, setTime] = useState<number | null>(null);
  const settled = useSettled(time, 60);
  const whole = useLoad(`fabric:${id}`, (signal) => api.loads(id, {}, signal));
  const times = whole.data?.times_ns ?? [];
  const instant = settled === null ? undefined : times[settled];
  const then = useLoad(instant === undefined ? null : `fabric:${id}:${instant}`, (signal) => api.loads(id, instant === undefined ? {} : { time: instant }, signal));
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    const timer = window.setInterval(() => setTime((last) => ((last ?? -1) + 1) % Math.max(times.length, 1)), 160);
    return () => window.clearInterval(timer);
  }, [playing, times.length]);
  if (!whole.data) return <Pending loading={whole.loading} problem={whole.problem} />;
  const data = settled === null ? whole.data : (then.data ?? whole.data);
  return (
    <>
      <div className="controls">
        <Select label="Colour" value={shown.value} options={SHOWN.map(({ value, label }) => ({ value, label }))} onChange={(value) => go(["trials", id, "fabric"], { show: value }, true)} />
        {times.length > 1 ? <Slider times={times} time={time} playing={playing} onTime={setTime} onPlay={setPlaying} /> : null}
      </div>
      <Picture fabric={whole.data} loads={data.loads} shown={shown} when={time === null ? "the whole trial" : withUnit(times[time] ?? 0, "ns")} />
      <Links fabric={whole.data} loads={data.loads} shown={shown} />
    </>
  );
}

interface SliderProps {
  times: number[];
  time: number | null;
  playing: boolean;
  onTime: (time: number | null) => void;
  onPlay: (playing: boolean) => void;
}

function Slider({ times, time, playing, onTime, onPlay }: SliderProps) {
  return (
    <>
      <span className="field" style={{ flex: "1 1 260px", maxWidth: 520 }}>
        <label htmlFor="time">{time === null ? "Time: the whole trial" : `Time: ${withUnit(times[time] ?? 0, "ns")}`}</label>
        <input
          id="time"
          type="range"
          min={0}
          max={times.length - 1}
          value={time ?? times.length - 1}
          aria-valuetext={time === null ? "the whole trial" : withUnit(times[time] ?? 0, "ns")}
          onChange={(event) => onTime(Number(event.target.value))}
        />
      </span>
      <button type="button" onClick={() => onPlay(!playing)}>
        {playing ? "Stop" : "Play"}
      </button>
      <button
        type="button"
        disabled={time === null}
        onClick={() => {
          onPlay(false);
          onTime(null);
        }}
      >
        Whole trial
      </button>
    </>
  );
}

/** The shares by which cables are coloured; all but utilisation are relative to the greatest. */
function shares(fabric: LoadedFabric, loads: Load[], shown: Shown): { shares: Float32Array; most: number; of: Map<number, Load[]> } {
  const of = new Map<number, Load[]>();
  for (const load of loads) {
    const both = of.get(load.link);
    if (both) both.push(load);
    else of.set(load.link, [load]);
  }
  const values = new Float32Array(fabric.links.length).fill(-1);
  let most = 0;
  const read = shown.of;
  if (read) {
    for (const [link, both] of of) {
      const value = Math.max(...both.map(read));
      values[link] = value;
      most = Math.max(most, value);
    }
    if (shown.value !== "utilisation" && most > 0) for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 0) / most;
  }
  return { shares: values, most, of };
}

const say = (load: Load): string => {
  const parts = [percent(load.utilisation), withUnit(load.tx_bytes, "bytes")];
  if (load.queue_bytes > 0) parts.push(`queue ${withUnit(load.queue_bytes, "bytes")}`);
  if (load.marked_frames) parts.push(`${plain(load.marked_frames)} marks`);
  if (load.rx_xoff_frames) parts.push(`${plain(load.rx_xoff_frames)} XOFF`);
  if (load.paused_ns) parts.push(`paused ${withUnit(load.paused_ns, "ns")}`);
  else if (load.paused) parts.push("paused");
  if (load.dropped_frames) parts.push(`${plain(load.dropped_frames)} dropped`);
  return parts.join(", ");
};

interface PictureProps {
  fabric: LoadedFabric;
  loads: Load[];
  shown: Shown;
  when: string;
}

function Picture({ fabric, loads, shown, when }: PictureProps) {
  const theme = useTheme();
  const coloured = useMemo(() => shares(fabric, loads, shown), [fabric, loads, shown]);
  const sayLinks = (links: number[]) => {
    const all = links.flatMap((link) => coloured.of.get(link) ?? []);
    return all
      .slice(0, 6)
      .map((load) => {
        const link = fabric.links[load.link];
        const [from, to] = load.direction === 0 ? [link?.a, link?.b] : [link?.b, link?.a];
        return `${fabric.nodes[from ?? 0]?.name} → ${fabric.nodes[to ?? 0]?.name}: ${say(load)}`;
      })
      .join("\n");
  };
  const nodeJobs = useMemo(() => {
    if (shown.value !== "jobs") return undefined;
    const of = fabric.nodes.map(() => -1);
    fabric.jobs.forEach((job, at) => job.hosts.forEach((host) => (of[host] = at)));
    return of;
  }, [fabric, shown]);
  const title = `${shown.label} of the fabric, ${when}`;
  return (
    <>
      {shown.value === "jobs" ? (
        <p className="legend">
          {fabric.jobs.map((job, at) => (
            <span key={job.name}>
              <i style={{ background: theme.series[at % theme.series.length] }} />
              {job.name}
            </span>
          ))}
        </p>
      ) : (
        <p className="legend">
          <span>{shown.value === "utilisation" ? "0 %" : "none"}</span>
          <i className="ramp" style={{ background: `linear-gradient(to right, ${css(loadColour(theme, 0))}, ${css(loadColour(theme, 0.5))}, ${css(loadColour(theme, 1))})` }} />
          <span>{shown.value === "utilisation" ? "100 %" : `${withUnit(coloured.most, shown.unit)}, the greatest`}</span>
          <span>A cable has the colour of its busier direction.</span>
        </p>
      )}
      <FabricView
        title={title}
        nodes={fabric.nodes}
        links={fabric.links}
        height={560}
        loads={shown.of ? coloured.shares : undefined}
        jobs={nodeJobs}
        sayLinks={sayLinks}
      />
    </>
  );
}

const COLUMNS = ["from", "to", "utilisation_percent", "tx_bytes", "queue_bytes", "marked_frames", "rx_xoff_frames", "paused_ns", "dropped_frames"];

const optional = (value: number | null | undefined): string => (typeof value === "number" ? plain(value) : "—");

/** The busiest links, which is the picture for those who do not see it. */
function Links({ fabric, loads, shown }: { fabric: LoadedFabric; loads: Load[]; shown: Shown }) {
  const read = shown.of ?? SHOWN[0].of;
  const rows = useMemo(() => {
    const ends = (load: Load) => {
      const link = fabric.links[load.link];
      const names = [fabric.nodes[link?.a ?? 0]?.name ?? "", fabric.nodes[link?.b ?? 0]?.name ?? ""];
      return load.direction === 0 ? names : names.reverse();
    };
    return [...loads].sort((a, b) => read(b) - read(a)).map((load) => ({ load, ends: ends(load) }));
  }, [fabric, loads, read]);
  const all = () => 
    rows.map(({ load, ends }) => [
      ...ends,
      load.utilisation * 100,
      load.tx_bytes,
      load.queue_bytes,
      load.marked_frames,
      load.rx_xoff_frames,
      load.paused_ns,
      load.dropped_frames,
    ]);
  return (
    <section>
      <h2>Links, the greatest first</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Links, the greatest first">
        <table>
          <thead>
            <tr>
              <th>From</th>
              <th>To</th>
              <th className="n">Utilisation</th>
              <th className="n">Sent</th>
              <th className="n">Queue</th>
              <th className="n">Marks</th>
              <th className="n">XOFF</th>
              <th className="n">Paused</th>
              <th className="n">Dropped</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 12).map(({ load, ends }, at) => (
              <tr key={at}>
                <td>{ends[0]}</td>
                <td>{ends[1]}</td>
                <td className="n">{percent(load.utilisation)}</td>
                <td className="n">{withUnit(load.tx_bytes, "bytes")}</td>
                <td className="n">{withUnit(load.queue_bytes, "bytes")}</td>
                <td className="n">{optional(load.marked_frames)}</td>
                <td className="n">{optional(load.rx_xoff_frames)}</td>
                <td className="n">{typeof load.paused_ns === "number" ? withUnit(load.paused_ns, "ns") : load.paused ? "now" : "—"}</td>
                <td className="n">{optional(load.dropped_frames)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="tools">
        <button type="button" onClick={() => download("links.csv", csv(COLUMNS, all()))}>
          CSV of all {rows.length} links
        </button>
      </div>
    </section>
  );
}
