/** A trial while it runs: progress, what is left, abort; then its results. */
import { useCallback, useEffect, useRef, useState } from "react";
import * as api from "../api/client";
import { useChanges, useProgress } from "../api/events";
import { problemOf, type Problem } from "../api/problem";
import type { Progress, Row, Trial } from "../api/types";
import { lineChart } from "../draw/lines";
import { plain, short, wait, withUnit } from "../draw/numbers";
import { jct, moment } from "../ui/format";
import { LiveView } from "../ui/live-view";
import { useLoad } from "../ui/load";
import { Empty, Meter, Page, Pending, Problems, State, Tile } from "../ui/parts";
import { Plot } from "../ui/plot";
import { go, href } from "../ui/router";
import { takeStarted } from "../ui/started";
import { runLists, sideBySide } from "./run-lists";

/** How many of the trials that wait are listed. */
const MOST_WAITING = 50;

export function RunPage({ id }: { id: string | undefined }) {
  const about = useLoad("about", api.about);
  const found = useLoad("queue", async (signal) => {
    const [waiting, running, ended] = await Promise.all([
      api.trials({ state: "queued", sort: "created", order: "asc", limit: MOST_WAITING }, signal),
      api.trials({ state: "running", sort: "created", order: "asc" }, signal),
      api.trials({ sort: "ended", order: "desc", limit: 10 }, signal),
    ]);
    return { total: waiting.total, lists: { waiting: waiting.rows, running: running.rows, ended: ended.rows } };
  });
  const { reload } = found;
  useChanges("trial", useCallback(() => reload(), [reload]));
  const { shown, running, waiting, ended } = runLists(found.data?.lists ?? { running: [], waiting: [], ended: [] }, id);
  const total = found.data?.total ?? 0;
  return (
    <Page title="Run" lead={sideBySide(about.data?.jobs)}>
      {shown ? (
        <Running id={shown} />
      ) : found.data ? (
        <Empty title="Nothing is running">
          <div className="actions">
            <a className="button primary" href={href(["configure"])}>
              Configure a trial
            </a>
          </div>
        </Empty>
      ) : (
        <Pending loading={found.loading} problem={found.problem} />
      )}
      <Queue rows={running} title="Also running" />
      <Queue rows={waiting} title="Waiting" note={total > MOST_WAITING ? `the next ${MOST_WAITING} of ${plain(total)}` : undefined} />
      <Queue rows={ended} title="Last trials" />
    </Page>
  );
}

function Queue({ rows, title, note }: { rows: Row[]; title: string; note?: string | undefined }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>
        {title} {note ? <small>{note}</small> : null}
      </h2>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Trial</th>
              <th>State</th>
              <th className="n">JCT</th>
              <th className="n">Wall time</th>
              <th>Created</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <a href={href(row.state === "queued" || row.state === "running" ? ["run", String(row.id)] : ["trials", String(row.id), "statistics"])}>{row.name}</a>
                </td>
                <td>
                  <State state={row.state} />
                </td>
                <td className="n">{jct(row)}</td>
                <td className="n">{typeof row.seconds === "number" ? wait(row.seconds) : "—"}</td>
                <td className="moment">{moment(row.created)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Progress as it came, for the plot of the rate. */
function useTrack(progress: Progress | undefined): Progress[] {
  const [track, setTrack] = useState<Progress[]>([]);
  const last = useRef<Progress | undefined>(undefined);
  useEffect(() => {
    if (!progress || progress === last.current) return;
    last.current = progress;
    setTrack((before) => [...before.filter((one) => one.id === progress.id), progress].slice(-600));
  }, [progress]);
  return track;
}

function Running({ id }: { id: string }) {
  const trial = useLoad(`run:${id}`, (signal) => api.trial(id, signal));
  const progress = useProgress(Number(id));
  const track = useTrack(progress);
  const [problem, setProblem] = useState<Problem>();
  const watched = useRef<string | undefined>(undefined);
  const { reload } = trial;
  useChanges("trial", useCallback((changed: string) => {
    if (changed === id || changed === "") reload();
  }, [id, reload]));
  const state = trial.data && String(trial.data.id) === id ? trial.data.state : undefined;
  // A trial that ends while it is watched, or was just started here, leads to its results.
  useEffect(() => {
    if (state !== undefined && takeStarted(id)) watched.current = id;
    if (state === "running" || state === "queued") watched.current = id;
    if (state === "done" && watched.current === id) go(["trials", id, "statistics"], {}, true);
  }, [state, id]);
  if (!trial.data) return <Pending loading={trial.loading} problem={trial.problem} />;
  const abort = () => void api.cancel(id).catch((error: unknown) => setProblem(problemOf(error)));
  const over = state !== "running" && state !== "queued";
  const fraction = over ? 1 : (progress?.fraction ?? 0);
  return (
    <section aria-label="Trial in progress">
      <div className="page-head">
        <h2 style={{ margin: 0 }}>
          {trial.data.name} <State state={state ?? ""} />
        </h2>
        <div className="actions">
          {over ? (
            <a className="button primary" href={href(["trials", id, "statistics"])}>
              Statistics
            </a>
          ) : (
            <button type="button" className="danger" onClick={abort}>
              Abort
            </button>
          )}
        </div>
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      {trial.data.error && state === "failed" ? <Problems problems={[{ message: trial.data.error }]} /> : null}
      {over && state !== "done" ? <Stopped trial={trial.data} /> : null}
      {state === "queued" ? <p className="soft">It starts when the trials before it are done.</p> : null}
      {state === "running" ? (
        <>
          <Meter value={fraction} label={`Progress of ${trial.data.name}`} />
          <dl className="tiles">
            <Tile label="Done" value={`${Math.floor(fraction * 100)} %`} />
            <Tile label="Left, about" value={typeof progress?.eta_s === "number" ? wait(progress.eta_s) : "—"} />
            <Tile label="Simulated time" value={progress ? withUnit(progress.simulated_ns, "ns") : "—"} />
            <Tile label="Flows done" value={progress ? plain(progress.flows_done) : "—"} note={progress?.flows_total ? `of ${plain(progress.flows_total)}` : undefined} />
            <Tile label="Packet-hops" value={progress ? short(progress.packet_hops) : "—"} />
            <Tile label="Speed" value={progress ? `${plain(progress.packet_hops_per_s / 1e6, 3)} M/s` : "—"} note="packet-hops per second of wall time" />
          </dl>
          <LiveView key={id} id={id} />
          {track.length > 2 ? <Speed track={track} /> : null}
        </>
      ) : null}
    </section>
  );
}

function Stopped({ trial }: { trial: Trial }) {
  const why: Record<string, string> = {
    cancelled: "It was stopped; what had been recorded by then is kept.",
    interrupted: "The server ended while it ran; what had been recorded by then is kept.",
    failed: "It could not be carried out.",
    incomplete: "It ended before its jobs did.",
  };
  return (
    <p className="note warn">
      {why[trial.state] ?? ""} {trial.state !== "failed" && trial.error ? `Reason: ${trial.error}. ` : ""}
      <a href={href(["configure"], { trial: String(trial.id) })}>Change and run it again</a>
    </p>
  );
}

function Speed({ track }: { track: Progress[] }) {
  const points = track.map((one) => [one.simulated_ns, one.packet_hops_per_s / 1e6] as const);
  return (
    <Plot
      title="Speed of the simulation"
      note="over simulated time"
      inputs={[track]}
      axis="simulated"
      draw={(width, theme, span) =>
        lineChart(
          { title: "Speed of the simulation", span, series: [{ name: "speed", points }], x: { label: "Simulated time", unit: "ns" }, y: { label: "Packet-hops (M/s)" } },
          width,
          190,
          theme,
        )
      }
      numbers={{ columns: ["simulated_ns", "packet_hops", "rate_per_s"], rows: track.map((one) => [one.simulated_ns, one.packet_hops, one.packet_hops_per_s]) }}
    />
  );
}
