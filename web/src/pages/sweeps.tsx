/** Sweeps: many trials of one description. */
import { useCallback, useState } from "react";
import * as api from "../api/client";
import { useChanges } from "../api/events";
import { problemOf, type Problem } from "../api/problem";
import type { Sweep } from "../api/types";
import { barChart } from "../draw/bars";
import { lineChart } from "../draw/lines";
import { plain } from "../draw/numbers";
import { parallel } from "../draw/parallel";
import { Editor } from "../scenario/editor";
import { csv, download, fileName, moment } from "../ui/format";
import { useLoad } from "../ui/load";
import { Empty, Meter, Page, Pending, Problems, Select, State } from "../ui/parts";
import { Plot } from "../ui/plot";
import { go, href } from "../ui/router";

const FIRST = `name: uplinks
scenario:
  fabric:
    kind: leaf-spine
    leaves: 2
    hosts_per_leaf: 4
    spines: 2
  jobs:
    - name: demo
      collectives:
        - {collective: all-to-all, size: 4MiB}
design: grid
axes:
  - {set: fabric.uplink_rate, values: [200Gbps, 400Gbps]}
  - {set: seed, values: [1, 2, 3]}
readings:
  - {name: jct_ms, of: jct_ms}
`;

export function Sweeps({ id }: { id: string | undefined }) {
  if (id === "new") return <NewSweep />;
  return id ? <OneSweep id={id} /> : <AllSweeps />;
}

function AllSweeps() {
  const sweeps = useLoad("sweeps", api.sweeps);
  const { reload } = sweeps;
  useChanges("sweep", useCallback(() => reload(), [reload]));
  return (
    <Page
      title="Sweeps"
      lead="Many trials of one scenario, at the points of a design."
      actions={
        <a className="button primary" href={href(["sweeps", "new"])}>
          New sweep
        </a>
      }
    >
      {!sweeps.data ? (
        <Pending loading={sweeps.loading} problem={sweeps.problem} />
      ) : sweeps.data.length === 0 ? (
        <Empty title="No sweeps yet">
          <a className="button" href={href(["sweeps", "new"])}>
            Describe a sweep
          </a>
        </Empty>
      ) : (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Sweep</th>
                <th>State</th>
                <th className="n">Trials done</th>
                <th className="n">Failed</th>
                <th>Created</th>
              </tr>
            </thead>
            <tbody>
              {sweeps.data.map((sweep) => (
                <tr key={sweep.id}>
                  <td>
                    <a href={href(["sweeps", sweep.id])}>{sweep.name}</a>
                  </td>
                  <td>
                    <State state={sweep.state} />
                  </td>
                  <td className="n">
                    {plain(sweep.done)} of {plain(sweep.total)}
                  </td>
                  <td className="n">{plain(sweep.failed)}</td>
                  <td>{moment(sweep.created)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

function NewSweep() {
  const [text, setText] = useState(FIRST);
  const [problem, setProblem] = useState<Problem>();
  const start = async () => {
    try {
      const sweep = await api.startSweep(text);
      go(["sweeps", sweep.id]);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Page
      title="New sweep"
      lead="A scenario, the axes along which it varies, and what is read of each trial."
      actions={
        <button type="button" className="primary" onClick={() => void start()}>
          Run sweep
        </button>
      }
    >
      {problem ? <Problems problems={[problem]} /> : null}
      <Editor text={text} problems={problem ? [problem] : []} height={520} onText={setText} />
    </Page>
  );
}

function OneSweep({ id }: { id: string }) {
  const sweep = useLoad(`sweep:${id}`, () => api.sweep(id));
  const { reload } = sweep;
  useChanges("sweep", useCallback((changed: string) => {
    if (changed === id || changed === "") reload();
  }, [id, reload]));
  if (!sweep.data) {
    return (
      <Page title="Sweep">
        <Pending loading={sweep.loading} problem={sweep.problem} />
      </Page>
    );
  }
  const data = sweep.data;
  return (
    <Page title={data.name} lead={<>Sweep of {plain(data.total)} trials <State state={data.state} /></>}>
      {data.state === "running" ? <Meter value={data.done / Math.max(data.total, 1)} label={`Progress of ${data.name}`} /> : null}
      <Readings sweep={data} />
      <Points sweep={data} />
    </Page>
  );
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(magnitude(text));

/** The number of a quantity such as `400Gbps` or `16MiB`, in its base unit. */
export function magnitude(text: string): number {
  const match = /^([\d.]+)\s*([A-Za-z/µ]*)$/.exec(text.trim());
  if (!match) return Number.NaN;
  const units: Record<string, number> = {
    "": 1, bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12, ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1,
    B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  };
  return Number(match[1]) * (units[match[2] ?? ""] ?? Number.NaN);
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Values of a reading by an axis, over all other axes. */
function along(sweep: Sweep, axis: string, reading: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const row of sweep.rows) {
    const value = row.readings[reading];
    if (typeof value !== "number") continue;
    const key = row.point[axis] ?? "";
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return found;
}

function Readings({ sweep }: { sweep: Sweep }) {
  const [reading, setReading] = useState(sweep.readings[0] ?? "");
  const [axis, setAxis] = useState(sweep.axes.find((one) => one.path !== "seed")?.path ?? sweep.axes[0]?.path ?? "");
  const groups = along(sweep, axis, reading);
  if (groups.size === 0) return <p className="empty">Results appear as trials are done.</p>;
  const keys = [...groups.keys()];
  const numbers = keys.every(isNumber);
  const title = `${reading} by ${axis}`;
  const bars = keys.map((key) => {
    const values = groups.get(key) ?? [];
    const more = values.length > 1 ? { low: Math.min(...values), high: Math.max(...values), dots: values.slice(0, 60) } : {};
    return { name: key, value: mean(values), text: plain(mean(values), 5), ...more };
  });
  const points = keys.map((key) => [magnitude(key), mean(groups.get(key) ?? [])] as const).sort((a, b) => a[0] - b[0]);
  const rows = keys.map((key) => {
    const values = groups.get(key) ?? [];
    return [key, mean(values), Math.min(...values), Math.max(...values), values.length];
  });
  return (
    <section>
      <div className="controls">
        <Select label="Reading" value={reading} options={sweep.readings.map((value) => ({ value, label: value }))} onChange={setReading} />
        <Select label="Along" value={axis} options={sweep.axes.map((one) => ({ value: one.path, label: one.path }))} onChange={setAxis} />
      </div>
      <div className="pictures">
        <Plot
          title={title}
          note="mean, least and greatest over the other axes; a dot for each trial"
          inputs={[sweep, axis, reading]}
          draw={(width, theme) => barChart({ title, bars, value: { label: reading } }, width, theme)}
          numbers={{ columns: [axis, "mean", "least", "greatest", "trials"], rows }}
        />
        {numbers && keys.length > 2 ? (
          <Plot
            title={`${title}, mean`}
            inputs={[sweep, axis, reading]}
            draw={(width, theme) => lineChart({ title, series: [{ name: reading, points }], x: { label: axis }, y: { label: reading } }, width, 300, theme)}
            numbers={{ columns: [axis, reading], rows: points }}
          />
        ) : null}
      </div>
      {sweep.axes.length > 1 ? <Lines sweep={sweep} reading={reading} /> : null}
    </section>
  );
}

function Lines({ sweep, reading }: { sweep: Sweep; reading: string }) {
  const axes = sweep.axes.map((axis) => (axis.values.every((value) => /^[\d.]+$/.test(value)) ? { name: axis.path } : { name: axis.path, words: axis.values }));
  const lines = sweep.rows
    .filter((row) => typeof row.readings[reading] === "number")
    .map((row, at) => ({
      name: `trial ${at + 1}`,
      values: [
        ...axes.map((axis) => {
          const value = row.point[axis.name];
          if (value === undefined) return null;
          return axis.words ? axis.words.indexOf(value) : Number(value);
        }),
        row.readings[reading] ?? null,
      ],
    }));
  const title = `${reading} over all axes`;
  return (
    <Plot
      title={title}
      inputs={[sweep, reading]}
      draw={(width, theme) => parallel({ title, axes: [...axes, { name: reading }], lines, coloured: axes.length }, width, 300, theme)}
      numbers={{ columns: [...sweep.axes.map((axis) => axis.path), reading], rows: sweep.rows.map((row) => [...sweep.axes.map((axis) => row.point[axis.path] ?? ""), row.readings[reading] ?? null]) }}
    />
  );
}

function Points({ sweep }: { sweep: Sweep }) {
  const columns = [...sweep.axes.map((axis) => axis.path), "state", ...sweep.readings];
  const rows = sweep.rows.map((row) => [...sweep.axes.map((axis) => row.point[axis.path] ?? ""), row.state, ...sweep.readings.map((name) => row.readings[name] ?? "")]);
  return (
    <section>
      <h2>Trials</h2>
      <div className="tools">
        <button type="button" onClick={() => download(`${fileName(sweep.name)}.csv`, csv(columns, rows))}>
          CSV
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Trials of the sweep" style={{ maxHeight: 520 }}>
        <table data-table="sweep">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} className={sweep.readings.includes(column) ? "n" : undefined}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sweep.rows.slice(0, 2000).map((row, at) => (
              <tr key={at}>
                {sweep.axes.map((axis) => (
                  <td key={axis.path}>{row.point[axis.path] ?? "—"}</td>
                ))}
                <td>{row.trial_id ? <a href={href(["trials", row.trial_id, "statistics"])}><State state={row.state} /></a> : <State state={row.state} />}</td>
                {sweep.readings.map((name) => (
                  <td key={name} className="n">
                    {typeof row.readings[name] === "number" ? plain(row.readings[name], 6) : "—"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
