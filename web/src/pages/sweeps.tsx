/** Sweeps: many trials of one description. */
import { useCallback, useState } from "react";
import * as api from "../api/client";
import { useChanges } from "../api/events";
import { problemOf, type Problem } from "../api/problem";
import type { Sweep } from "../api/types";
import { barChart } from "../draw/bars";
import { lineChart } from "../draw/lines";
import { plain, unitFor, withUnit } from "../draw/numbers";
import { parallel } from "../draw/parallel";
import { Editor } from "../scenario/editor";
import { inDescription } from "../scenario/sweep-problems";
import { csv, download, fileName } from "../draw/save";
import { moment } from "../ui/format";
import { useLoad } from "../ui/load";
import { Empty, Meter, Page, Pending, Problems, Select, State } from "../ui/parts";
import { Plot } from "../ui/plot";
import { go, href } from "../ui/router";
import { SweepMatrix } from "./sweep-matrix";
import { grouped, type Group, labelOf, median } from "./sweep-rows";

const FIRST = `name: uplinks
# The scenario is the one chosen above; \`scenario: preset:NAME\` names a preset.
variants:                     # what is compared
  ecmp: {}
  spray:
    fabric.load_balancing: {kind: random-spray}
    endpoint.nic.loss_recovery: {kind: selective-repeat, reorder: 64}
axes:                         # what is varied
  fabric.uplink_rate: [200Gbps, 400Gbps]
seeds: 3
readings:                     # what is read of each trial
  - {name: JCT, query: max(jobs.jct_ns)}
`;

const DRAFT = "tenter-draft";

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
                    <a href={href(["sweeps", String(sweep.id)])}>{sweep.name}</a>
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
  const [from, setFrom] = useState(window.sessionStorage.getItem(DRAFT) ? "draft" : "preset:leaf-spine-64");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const presets = useLoad("presets", api.presets);
  const trials = useLoad("sweep:trials", () => api.trials({ sort: "created", order: "desc", limit: 50 }));
  const start = async () => {
    setBusy(true);
    try {
      const sweep = await api.startSweep({ text, scenario: await scenarioOf(from) });
      go(["sweeps", String(sweep.id)]);
    } catch (error) {
      setProblem(inDescription(problemOf(error), text));
    }
    setBusy(false);
  };
  const options = [
    ...(window.sessionStorage.getItem(DRAFT) ? [{ value: "draft", label: "The draft under Configure" }] : []),
    ...(trials.data?.rows ?? []).map((row) => ({ value: `trial:${row.id}`, label: `Trial ${row.name}` })),
    ...(presets.data ?? []).map((preset) => ({ value: `preset:${preset.name}`, label: `Preset ${preset.name}` })),
  ];
  return (
    <Page
      title="New sweep"
      lead="What is compared, the keys that are varied, and what is read of each trial."
      actions={
        <button type="button" className="primary" disabled={busy} onClick={() => void start()}>
          Run sweep
        </button>
      }
    >
      <div className="controls">
        <Select label="Scenario" value={from} options={options} onChange={setFrom} />
      </div>
      {problem ? <Problems problems={[problem]} /> : null}
      <Editor text={text} problems={problem?.problems ?? []} height={420} onText={setText} label="Sweep, YAML" />
    </Page>
  );
}

async function scenarioOf(from: string): Promise<string> {
  const [kind = "", name = ""] = [from.slice(0, from.indexOf(":")), from.slice(from.indexOf(":") + 1)];
  if (kind === "preset") return (await api.preset(name)).text;
  if (kind === "trial") return api.config(name);
  return window.sessionStorage.getItem(DRAFT) ?? "";
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
    <Page
      title={data.name}
      lead={<>Sweep of {plain(data.total)} trials, {plain(data.done)} done <State state={data.state} /></>}
      actions={
        isOver(data.state) ? null : (
          <button type="button" className="danger" onClick={() => void api.cancelSweep(id).then(reload, reload)}>
            Abort
          </button>
        )
      }
    >
      {data.error ? <Problems problems={[{ message: data.error }]} /> : null}
      {!isOver(data.state) ? <Meter value={data.done / Math.max(data.total, 1)} label={`Progress of ${data.name}`} /> : null}
      {data.rows.some((row) => row.values.some((value) => value !== null)) ? <Readings sweep={data} /> : <p className="empty">{isOver(data.state) ? "The sweep has no results." : "No trial is done yet."}</p>}
      <Points sweep={data} />
      <details>
        <summary>Description of the sweep</summary>
        <pre tabIndex={0}>{data.text}</pre>
      </details>
    </Page>
  );
}

const isOver = (state: string): boolean => state !== "running" && state !== "queued";

type SweepPoint = Sweep["rows"][number];

/** Times are read in nanoseconds; people read those in the unit that fits. */
const say = (value: number, unit: string): string => withUnit(value, unit, 5);

function Readings({ sweep }: { sweep: Sweep }) {
  const [at, setAt] = useState(0);
  const reading = sweep.readings[at] ?? { name: "", unit: "" };
  const groups = grouped(sweep, at);
  const variants = sweep.variants.length > 0 ? sweep.variants : [""];
  const where = (point: string[]) => point.join(", ");
  const unit = unitFor(reading.unit, Math.max(...groups.flatMap((group) => group.values), 0));
  const bars = groups.map((group) => ({
    name: [where(group.point), group.variant].filter(Boolean).join(", "),
    value: median(group.values) / unit.size,
    low: Math.min(...group.values) / unit.size,
    high: Math.max(...group.values) / unit.size,
    dots: group.values.length > 1 ? group.values.map((value) => value / unit.size) : [],
    colour: Math.max(variants.indexOf(group.variant), 0),
    text: plain(median(group.values) / unit.size, 5),
  }));
  const rows = groups.map((group) => [where(group.point), group.variant, median(group.values), Math.min(...group.values), Math.max(...group.values), group.values.length]);
  const label = unit.name ? `${reading.name} (${unit.name})` : reading.name;
  return (
    <section>
      {sweep.readings.length > 1 ? (
        <div className="controls">
          <Select label="Reading" value={String(at)} options={sweep.readings.map((one, index) => ({ value: String(index), label: one.name }))} onChange={(value) => setAt(Number(value))} />
        </div>
      ) : null}
      <div className="pictures">
        <Plot
          title={`${reading.name} of each point`}
          note="median of the seeds, with the least and the greatest; a dot for each seed"
          inputs={[sweep, at]}
          draw={(width, theme) => barChart({ title: reading.name, bars: bars.slice(0, 60), value: { label } }, width, theme)}
          numbers={{ columns: ["point", "variant", "median", "least", "greatest", "seeds"], rows }}
        />
        {sweep.axes.map((axis) => (
          <AxisLines key={axis.path} sweep={sweep} axis={axis} groups={groups} label={reading.name} unit={reading.unit} />
        ))}
      </div>
      {sweep.axes.length > 1 ? <SweepMatrix sweep={sweep} reading={at} /> : null}
      {sweep.axes.length > 0 ? <Lines sweep={sweep} reading={at} /> : null}
    </section>
  );
}

interface AxisProps {
  sweep: Sweep;
  axis: Sweep["axes"][number];
  groups: Group[];
  label: string;
  unit: string;
}

function AxisLines({ sweep, axis, groups, label, unit }: AxisProps) {
  if (axis.values.length < 3 || !axis.values.every((value) => Number.isFinite(magnitude(value)))) return null;
  const variants = sweep.variants.length > 0 ? sweep.variants : [""];
  const at = sweep.axes.indexOf(axis);
  const series = variants.map((variant) => ({
    name: variant || label,
    points: axis.values.flatMap((value) => {
      const values = groups.filter((group) => group.variant === variant && group.point[at] === value).flatMap((group) => group.values);
      return values.length > 0 ? [[magnitude(value), median(values)] as const] : [];
    }),
  }));
  const title = `${label} by ${labelOf(axis)}`;
  const texts = new Map(axis.values.map((value) => [magnitude(value), value]));
  return (
    <Plot
      title={title}
      note="median over all else"
      inputs={[sweep, label]}
      draw={(width, theme) =>
        lineChart(
          { title, series, x: { label: labelOf(axis), values: [...texts.keys()].slice(0, 12), format: (value) => texts.get(value) ?? plain(value) }, y: { label, unit, low: 0 } },
          width,
          300,
          theme,
        )
      }
      numbers={{ columns: ["variant", axis.path, label], rows: series.flatMap((one) => one.points.map(([x, y]) => [one.name, texts.get(x) ?? x, y])) }}
    />
  );
}

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

function Lines({ sweep, reading }: { sweep: Sweep; reading: number }) {
  const about = sweep.readings[reading] ?? { name: "", unit: "" };
  const axes = [
    ...(sweep.variants.length > 1 ? [{ name: "variant", words: sweep.variants, of: (row: SweepPoint) => sweep.variants.indexOf(row.variant) }] : []),
    ...sweep.axes.map((axis, at) => ({ name: labelOf(axis), words: axis.values, of: (row: SweepPoint) => axis.values.indexOf(row.point[at] ?? "") })),
  ];
  const done = sweep.rows.filter((row) => typeof row.values[reading] === "number");
  const unit = unitFor(about.unit, Math.max(...done.map((row) => row.values[reading] ?? 0), 0));
  const lines = done.map((row) => ({
    name: [row.variant, ...row.point, row.seed ? `seed ${row.seed}` : ""].filter(Boolean).join(", "),
    values: [...axes.map((axis) => axis.of(row)), (row.values[reading] ?? 0) / unit.size],
  }));
  const title = `${about.name} over all axes`;
  return (
    <Plot
      title={title}
      note="a line for each trial"
      inputs={[sweep, reading]}
      draw={(width, theme) => parallel({ title, axes: [...axes.map(({ name, words }) => ({ name, words })), { name: about.name, unit: unit.name }], lines, coloured: axes.length }, width, 300, theme)}
      numbers={{ columns: [...axes.map((axis) => axis.name), about.name], rows: done.map((row) => [...axes.map((axis) => axis.words[axis.of(row)] ?? ""), row.values[reading] ?? null]) }}
    />
  );
}

function Points({ sweep }: { sweep: Sweep }) {
  if (sweep.rows.length === 0) return null;
  const many = sweep.variants.length > 1;
  const columns = [...(many ? ["variant"] : []), ...sweep.axes.map(labelOf), "seed"];
  const cells = (row: SweepPoint) => [...(many ? [row.variant] : []), ...row.point, row.seed];
  const heads = [...columns, ...sweep.readings.map((one) => (one.unit ? `${one.name} (${one.unit})` : one.name))];
  return (
    <section>
      <h2>Trials</h2>
      {sweep.notes.map((note) => (
        <p className={note.startsWith("warning") ? "note warn" : "note"} key={note}>
          {note}
        </p>
      ))}
      <div className="tools">
        <button type="button" onClick={() => download(`${fileName(sweep.name)}.csv`, csv(heads, sweep.rows.map((row) => [...cells(row), ...row.values])))}>
          CSV
        </button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Trials of the sweep" style={{ maxHeight: 520 }}>
        <table data-table="sweep">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
              {sweep.readings.map((one) => (
                <th key={one.name} className="n">
                  {one.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sweep.rows.slice(0, 2000).map((row, at) => (
              <tr key={at}>
                {cells(row).map((cell, column) => (
                  <td key={column}>{column === 0 && typeof row.trial === "number" ? <a href={href(["trials", String(row.trial), "statistics"])}>{cell || "trial"}</a> : cell}</td>
                ))}
                {row.values.map((value, column) => (
                  <td key={column} className="n">
                    {typeof value === "number" ? say(value, sweep.readings[column]?.unit ?? "") : "—"}
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
