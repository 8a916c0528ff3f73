/** A trial while it runs: what its links carry and where frames wait, in its last sampling interval. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import * as api from "../api/client";
import type { Live } from "../api/types";
import { lineChart } from "../draw/lines";
import { withUnit } from "../draw/numbers";
import { queries, useLoad } from "./load";
import { Picture, SHOWN } from "./loads";
import { Select } from "./parts";
import { Plot } from "./plot";

const EVERY_MS = 1000;
/** Instants of the plot of queues. */
const MOST = 600;
/** Queues that are drawn: those that were deepest. */
const PORTS = 6;
/** Queues of the table. */
const ROWS = 8;
/** The most queues that the server tells; with fewer, all others are empty. */
const TOLD = 32;

type Depths = Map<string, [number, number][]>;

const nameOf = (queue: Live["queues"][number]): string => `${queue.port} → ${queue.peer}`;

/** The state of the trial, asked for about once a second, and the queues seen so far. */
function useLive(id: string): { live: Live | undefined; depths: Depths } {
  // It has ended, or the server has: the page hears of both.
  const { data } = useQuery({ queryKey: ["live", id], queryFn: ({ signal }) => api.live(id, signal), refetchInterval: EVERY_MS }, queries);
  const [seen, setSeen] = useState<{ live?: Live; depths: Depths }>({ depths: new Map() });
  useEffect(() => {
    if (!data?.is_running) return;
    setSeen(({ depths }) => {
      note(depths, data);
      return { live: data, depths };
    });
  }, [data]);
  return { live: seen.live, depths: seen.depths };
}

function note(depths: Depths, now: Live): void {
  const time = now.time_ns;
  if (typeof time !== "number") return;
  const deep = new Map(now.queues.map((queue) => [nameOf(queue), queue.queue_high_water_bytes]));
  for (const name of deep.keys()) if (!depths.has(name)) depths.set(name, []);
  for (const [name, points] of depths) {
    if (points.at(-1)?.[0] === time) continue;
    const depth = deep.get(name) ?? (deep.size < TOLD ? 0 : undefined);
    if (depth === undefined) continue;
    points.push([time, depth]);
    if (points.length > MOST) points.shift();
  }
}

export function LiveView({ id }: { id: string }) {
  const fabric = useLoad(`live-fabric:${id}`, (signal) => api.loads(id, {}, signal));
  const { live, depths } = useLive(id);
  const [shown, setShown] = useState<string>("utilisation");
  if (!fabric.data || !live) return null;
  if (!live.is_sampled) return <p className="soft">The links of this trial cannot be watched: its samples are switched off.</p>;
  const colour = SHOWN.find((one) => one.value === shown) ?? SHOWN[0];
  const when = typeof live.time_ns === "number" ? `at ${withUnit(live.time_ns, "ns")}` : "before its first sample";
  return (
    <section aria-label="Links and queues now">
      <h2>Links {when}</h2>
      <div className="controls">
        <Select label="Colour" value={shown} options={SHOWN.slice(0, 2).map(({ value, label }) => ({ value, label }))} onChange={setShown} />
        <span className="soft">{live.interval_ns > 0 ? `The last ${withUnit(live.interval_ns, "ns")} of simulated time` : ""}</span>
      </div>
      <Picture fabric={fabric.data} loads={live.loads} shown={colour} when={when} height={420} />
      <Queues live={live} depths={depths} />
    </section>
  );
}

function Queues({ live, depths }: { live: Live; depths: Depths }) {
  const peak = (points: [number, number][]) => Math.max(0, ...points.map((point) => point[1]));
  const deepest = [...depths].sort((a, b) => peak(b[1]) - peak(a[1])).slice(0, PORTS);
  const series = deepest.map(([name, points]) => ({ name, points: [...points] }));
  return (
    <>
      <h2>Deepest queues</h2>
      {live.queues.length === 0 ? <p className="soft">No frame waits.</p> : null}
      {live.queues.length > 0 ? (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Port</th>
                <th>Leads to</th>
                <th className="n">Waiting</th>
                <th className="n">Most since the last sample</th>
                <th>Paused</th>
              </tr>
            </thead>
            <tbody>
              {live.queues.slice(0, ROWS).map((queue) => (
                <tr key={queue.port}>
                  <td>{queue.port}</td>
                  <td>{queue.peer}</td>
                  <td className="n">{withUnit(queue.queue_bytes, "bytes")}</td>
                  <td className="n">{withUnit(queue.queue_high_water_bytes, "bytes")}</td>
                  <td>{queue.paused ? "yes" : "no"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {series.some((one) => one.points.length > 1) ? (
        <Plot
          title="Deepest queues while the trial runs"
          note="as seen about once a second"
          inputs={[live]}
          draw={(width, theme) =>
            lineChart({ title: "Deepest queues", series, x: { label: "Simulated time", unit: "ns" }, y: { label: "Queue", unit: "bytes", low: 0 } }, width, 240, theme)
          }
          numbers={{ columns: ["port", "time_ns", "bytes"], rows: series.flatMap((one) => one.points.map(([time, bytes]) => [one.name, time, bytes])) }}
        />
      ) : null}
    </>
  );
}
