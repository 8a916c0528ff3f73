/** The fabric of a trial with what happened on it, over time. */
import { useEffect, useMemo, useState } from "react";
import * as api from "../api/client";
import type { Load, LoadedFabric } from "../api/types";
import { percent, plain, withUnit } from "../draw/numbers";
import { csv, download } from "../draw/save";
import { isReport } from "../embedded";
import { useLoad, useSettled } from "../ui/load";
import { Picture, type Shown, SHOWN } from "../ui/loads";
import { Pending, Select } from "../ui/parts";
import { type Route, show, useShown } from "../ui/router";
import { TrialPage } from "../ui/trial";
import { number } from "../ui/view-kinds";
import { instantAt } from "./fabric-time";

export function FabricPage({ id, route }: { id: string | undefined; route: Route }) {
  return (
    <TrialPage id={id} page="fabric" title="Fabric">
      {(trial) => <FabricBody key={trial.id} id={String(trial.id)} route={route} />}
    </TrialPage>
  );
}

/** The fabric with what happened on it; a report has sums over the trial alone. */
export function FabricBody({ id, route }: { id: string; route: Route }) {
  const shown = SHOWN.find((one) => one.value === route.query.get("show")) ?? SHOWN[0];
  const [at, setAt] = useShown("at", number);
  const whole = useLoad(`fabric:${id}`, (signal) => api.loads(id, {}, signal));
  const times = useMemo(() => whole.data?.times_ns ?? [], [whole.data]);
  // Sums over a trial are written at its end: without them the last instant is all there is.
  const cut = whole.data !== undefined && whole.data.loads.length === 0 && times.length > 0;
  const chosen = instantAt(times, at);
  const setTime = (place: number | null) => setAt(place === null ? null : (times[place] ?? null));
  const time = chosen ?? (cut ? times.length - 1 : null);
  const settled = useSettled(time, 60);
  const instant = settled === null ? undefined : times[settled];
  const then = useLoad(instant === undefined ? null : `fabric:${id}:${instant}`, (signal) => api.loads(id, instant === undefined ? {} : { time: instant }, signal));
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    const next = times[((chosen ?? -1) + 1) % Math.max(times.length, 1)] ?? null;
    const timer = window.setTimeout(() => setAt(next), 160);
    return () => window.clearTimeout(timer);
  }, [playing, times, chosen, setAt]);
  if (!whole.data) return <Pending loading={whole.loading} problem={whole.problem} />;
  const data = settled === null ? whole.data : (then.data ?? whole.data);
  return (
    <>
      {cut ? <p className="note">The trial ended before sums over the whole of it were written; each instant until then can be shown.</p> : null}
      <div className="controls">
        <Select label="Colour" value={shown.value} options={SHOWN.map(({ value, label }) => ({ value, label }))} onChange={(value) => show({ show: value })} />
        {times.length > 1 && !isReport ? <Slider times={times} time={time} whole={!cut} playing={playing} onTime={setTime} onPlay={setPlaying} /> : null}
      </div>
      <Picture fabric={whole.data} loads={data.loads} shown={shown} when={time === null ? "the whole trial" : withUnit(times[time] ?? 0, "ns")} />
      <Links fabric={whole.data} loads={data.loads} shown={shown} />
    </>
  );
}

interface SliderProps {
  times: number[];
  time: number | null;
  /** Whether there are sums over the whole trial. */
  whole: boolean;
  playing: boolean;
  onTime: (time: number | null) => void;
  onPlay: (playing: boolean) => void;
}

function Slider({ times, time, whole, playing, onTime, onPlay }: SliderProps) {
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
        disabled={time === null || !whole}
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

const COLUMNS = ["from", "to", "utilisation_percent", "tx_bytes", "queue_bytes", "marked_frames", "rx_xoff_frames", "paused_ns", "dropped_frames"];

const optional = (value: number | null | undefined): string => (typeof value === "number" ? plain(value) : "—");

/** The busiest links, which is the picture for those who do not see it. */
function Links({ fabric, loads, shown }: { fabric: LoadedFabric; loads: Load[]; shown: Shown }) {
  const read = shown.of ?? SHOWN[0].of;
  const heading = `Links, highest first: ${shown.of ? shown.label : SHOWN[0].label}`;
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
      <h2>{heading}</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label={heading}>
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
