/** The fabric of a trial with what happened on it, over time. */
import { useEffect, useMemo, useState } from "react";
import * as api from "../api/client";
import type { LoadedFabric } from "../api/types";
import { percent, plain, withUnit } from "../draw/numbers";
import { css, loadColour } from "../draw/theme";
import { csv, download } from "../ui/format";
import { FabricView } from "../ui/fabric-view";
import { useLoad, useSettled } from "../ui/load";
import { Pending, Select } from "../ui/parts";
import { go, type Route } from "../ui/router";
import { useTheme } from "../ui/theme";
import { TrialPage } from "../ui/trial";

const SHOWN = [
  { value: "utilisation", label: "Utilisation", column: 2, unit: "" },
  { value: "marks", label: "ECN marks", column: 4, unit: "frames" },
  { value: "pauses", label: "Time paused", column: 6, unit: "ns" },
  { value: "drops", label: "Frames dropped", column: 7, unit: "frames" },
  { value: "jobs", label: "Jobs", column: -1, unit: "" },
] as const;

type Shown = (typeof SHOWN)[number];

export function FabricPage({ id, route }: { id: string | undefined; route: Route }) {
  return (
    <TrialPage id={id} page="fabric" title="Fabric">
      {(trial) => <Body key={trial.id} id={String(trial.id)} jobs={trial.summary?.jobs.map((job) => job.job_name) ?? []} route={route} />}
    </TrialPage>
  );
}

function Body({ id, jobs, route }: { id: string; jobs: string[]; route: Route }) {
  const shown = SHOWN.find((one) => one.value === route.query.get("show")) ?? SHOWN[0];
  const [time, setTime] = useState<number | null>(null);
  const settled = useSettled(time, 60);
  const whole = useLoad(`fabric:${id}`, (signal) => api.loads(id, {}, signal));
  const times = whole.data?.times_ns ?? [];
  const instant = settled === null ? undefined : times[settled];
  const then = useLoad(instant === undefined ? null : `fabric:${id}:${instant}`, (signal) => api.loads(id, { time: instant }, signal));
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
      <Picture fabric={whole.data} loads={data.loads} shown={shown} jobs={jobs} when={time === null ? "the whole trial" : withUnit(times[time] ?? 0, "ns")} />
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
function shares(fabric: LoadedFabric, loads: number[][], shown: Shown): { shares: Float32Array; most: number; of: Map<number, number[][]> } {
  const of = new Map<number, number[][]>();
  for (const load of loads) of.set(load[0] ?? 0, [...(of.get(load[0] ?? 0) ?? []), load]);
  const values = new Float32Array(fabric.links.length).fill(-1);
  let most = 0;
  if (shown.column >= 0) {
    for (const [link, both] of of) {
      const value = Math.max(...both.map((load) => load[shown.column] ?? 0));
      values[link] = value;
      most = Math.max(most, value);
    }
    if (shown.value !== "utilisation" && most > 0) for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 0) / most;
  }
  return { shares: values, most, of };
}

const say = (load: number[]): string => {
  const [, , utilisation = 0, bytes = 0, marks = 0, xoff = 0, paused = 0, drops = 0] = load;
  const parts = [percent(utilisation), withUnit(bytes, "bytes")];
  if (marks > 0) parts.push(`${plain(marks)} marks`);
  if (xoff > 0) parts.push(`${plain(xoff)} XOFF`);
  if (paused > 0) parts.push(`paused ${withUnit(paused, "ns")}`);
  if (drops > 0) parts.push(`${plain(drops)} dropped`);
  return parts.join(", ");
};

interface PictureProps {
  fabric: LoadedFabric;
  loads: number[][];
  shown: Shown;
  jobs: string[];
  when: string;
}

function Picture({ fabric, loads, shown, jobs, when }: PictureProps) {
  const theme = useTheme();
  const coloured = useMemo(() => shares(fabric, loads, shown), [fabric, loads, shown]);
  const sayLinks = (links: number[]) => {
    const all = links.flatMap((link) => coloured.of.get(link) ?? []);
    return all
      .slice(0, 6)
      .map((load) => {
        const link = fabric.links[load[0] ?? 0];
        const [from, to] = load[1] === 0 ? [link?.a, link?.b] : [link?.b, link?.a];
        return `${fabric.nodes[from ?? 0]?.name} → ${fabric.nodes[to ?? 0]?.name}: ${say(load)}`;
      })
      .join("\n");
  };
  const nodeJobs = shown.value === "jobs" ? (fabric.jobs_of_node ?? undefined)?.map((list) => list[0] ?? -1) : undefined;
  const title = `${shown.label} of the fabric, ${when}`;
  return (
    <>
      {shown.value === "jobs" ? (
        <p className="legend">
          {jobs.map((job, at) => (
            <span key={job}>
              <i style={{ background: theme.series[at % theme.series.length] }} />
              {job}
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
        loads={shown.column >= 0 ? coloured.shares : undefined}
        jobs={nodeJobs}
        sayLinks={sayLinks}
      />
    </>
  );
}

const COLUMNS = ["from", "to", "utilisation (%)", "tx (bytes)", "marks (frames)", "XOFF", "paused (ns)", "dropped (frames)"];

/** The busiest links, which is the picture for those who do not see it. */
function Links({ fabric, loads, shown }: { fabric: LoadedFabric; loads: number[][]; shown: Shown }) {
  const column = shown.column < 0 ? 2 : shown.column;
  const rows = useMemo(() => {
    const ends = (load: number[]) => {
      const link = fabric.links[load[0] ?? 0];
      const names = [fabric.nodes[link?.a ?? 0]?.name ?? "", fabric.nodes[link?.b ?? 0]?.name ?? ""];
      return load[1] === 0 ? names : names.reverse();
    };
    return [...loads].sort((a, b) => (b[column] ?? 0) - (a[column] ?? 0)).map((load) => ({ load, ends: ends(load) }));
  }, [fabric, loads, column]);
  const all = () => rows.map(({ load, ends }) => [...ends, (load[2] ?? 0) * 100, ...load.slice(3)]);
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
                <td className="n">{percent(load[2] ?? 0)}</td>
                <td className="n">{withUnit(load[3] ?? 0, "bytes")}</td>
                <td className="n">{plain(load[4] ?? 0)}</td>
                <td className="n">{plain(load[5] ?? 0)}</td>
                <td className="n">{withUnit(load[6] ?? 0, "ns")}</td>
                <td className="n">{plain(load[7] ?? 0)}</td>
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
