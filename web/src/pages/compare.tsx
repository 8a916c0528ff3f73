/** Trials side by side: results, distributions, and in what their configurations differ. */
import { useMemo } from "react";
import * as api from "../api/client";
import type { Compare as Compared, Row } from "../api/types";
import { barChart } from "../draw/bars";
import { cdfChart } from "../draw/cdf";
import { lineChart } from "../draw/lines";
import { plain } from "../draw/numbers";
import { parallel } from "../draw/parallel";
import { csv, download } from "../draw/save";
import { isReport } from "../embedded";
import { count } from "../ui/format";
import { useLoad } from "../ui/load";
import { Empty, Page, Pending, Select } from "../ui/parts";
import { TrialChoice } from "../ui/choice";
import { COMPARED, pick, usePicked } from "../ui/picked";
import { PictureGroupView } from "../ui/picture";
import { Plot } from "../ui/plot";
import { href, type Route, show, useShown } from "../ui/router";
import { flag, word } from "../ui/view-kinds";
import { METRICS } from "../views";
import { alike, comparedLines, signed } from "./compare-rows";
import { MeasuredSection } from "./measured";
import { HeatPlot, heatMetrics, type Metric } from "./plots";

export function Compare({ route }: { route: Route }) {
  const picked = usePicked();
  const asked = route.query.get("ids")?.split(",").filter(Boolean) ?? [];
  const ids = [...new Set(asked.length > 0 ? asked : picked)];
  const compared = useLoad(ids.length > 1 && (isReport || ids.length <= COMPARED) ? `compare:${ids.join(",")}` : null, () => api.compare(ids));
  const set = (next: string[]) => {
    pick(next);
    show({ ids: next.join(",") });
  };
  const one = useLoad(ids.length === 1 ? `trial:${ids[0]}` : null, (signal) => api.trial(ids[0] ?? "", signal));
  const names = new Map([one.data, ...(compared.data?.trials ?? [])].flatMap((row) => (row ? [[String(row.id), row.name]] : [])));
  return (
    <Page title="Compare" of={["Compare", ...ids.map((id) => names.get(id) ?? "")]} lead="The first trial is the baseline; differences are of the others to it.">
      {isReport ? null : (
      <div className="controls">
        {(ids.length > COMPARED ? [] : ids).map((id, at) => (
          <span className="tag" key={id}>
            {names.get(id) ?? id}
            {at > 0 ? (
              <button type="button" onClick={() => set([id, ...ids.filter((other) => other !== id)])} aria-label={`Make ${names.get(id) ?? id} the baseline`} title="Make it the baseline">
                ⇤
              </button>
            ) : (
              <small>baseline</small>
            )}
            <button type="button" onClick={() => set(ids.filter((other) => other !== id))} aria-label={`Remove ${names.get(id) ?? id}`}>
              ×
            </button>
          </span>
        ))}
        <TrialChoice label="Add a trial" placeholder="Add a trial…" without={ids} done onChoose={(id) => set([...ids, id])} />
      </div>
      )}
      {!isReport && ids.length > COMPARED ? (
        <Empty title={`${ids.length.toLocaleString("en")} trials are picked; up to ${COMPARED} can be compared`}>
          <div className="actions">
            <a className="button" href={href([], { plot: "1" })}>
              Plot them all
            </a>
          </div>
        </Empty>
      ) : ids.length < 2 ? (
        <Empty title="Pick two trials or more">
          <p>Tick them in the workspace, or add them here.</p>
          <div className="actions">
            <a className="button" href={href([])}>
              Workspace
            </a>
          </div>
        </Empty>
      ) : compared.data ? (
        <Side data={compared.data} />
      ) : (
        <Pending loading={compared.loading} problem={compared.problem} />
      )}
    </Page>
  );
}

function Side({ data }: { data: Compared }) {
  return (
    <>
      <Results data={data} />
      <Distributions data={data} />
      <Bars data={data} />
      <Many trials={data.trials} />
      <Configurations data={data} />
      <MeasuredSection ids={data.trials.map((trial) => String(trial.id))} />
      <Together ids={data.trials.map((trial) => String(trial.id))} />
      <Heats trials={data.trials} />
    </>
  );
}

function Results({ data }: { data: Compared }) {
  const lines = useMemo(() => comparedLines(data), [data]);
  return (
    <section>
      <h2>Results</h2>
      {data.remarks.map((remark) => (
        <p className={remark.startsWith("warning") ? "note warn" : "note"} key={remark}>
          {remark}
        </p>
      ))}
      <div className="scroll" tabIndex={0} role="region" aria-label="Results side by side" style={{ maxHeight: 640 }}>
        <table data-table="compare">
          <thead>
            <tr>
              <th>Result of</th>
              <th>Quantity</th>
              {data.trials.map((trial) => (
                <th key={trial.id} className="n">
                  {trial.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line, at) => (
              <tr key={at}>
                <td>{lines[at - 1]?.group === line.group ? "" : line.what}</td>
                <td>{line.of}</td>
                {data.trials.map((trial, place) => (
                  <td key={trial.id} className="n">
                    {line.cells[place]?.text ?? "—"} <Difference percent={line.cells[place]?.difference ?? null} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="tools">
        <button type="button" onClick={() => download("compare.csv", csv(data.columns.map((column) => column.name), data.rows))}>
          CSV
        </button>
      </div>
    </section>
  );
}

function Difference({ percent }: { percent: number | null }) {
  return percent === null ? null : <small>{signed(percent)}</small>;
}

function Distributions({ data }: { data: Compared }) {
  const jobs = [...new Set(data.cdfs.map((one) => one.name))];
  const [tail, setTail] = useShown("tail", flag);
  if (jobs.length === 0) return null;
  return (
    <section>
      <h2>Flow completion times</h2>
      <div className="controls">
        <button type="button" aria-pressed={!tail} onClick={() => setTail(false)}>
          Distribution
        </button>
        <button type="button" aria-pressed={tail} onClick={() => setTail(true)}>
          Tail
        </button>
      </div>
      <div className="pictures">
        {jobs.map((job) => (
          <Overlay key={job} data={data} job={job} tail={tail} />
        ))}
      </div>
    </section>
  );
}

function Overlay({ data, job, tail }: { data: Compared; job: string; tail: boolean }) {
  const list = data.cdfs.filter((one) => one.name === job && one.points.length > 0);
  const order = data.trials.map((trial) => String(trial.id));
  const name = (id: string) => data.trials.find((trial) => String(trial.id) === id)?.name ?? id;
  const lines = list.map(({ trial, points }) => ({ name: name(String(trial)), colour: order.indexOf(String(trial)), points }));
  const title = `FCT of ${job}, ${tail ? "tail" : "distribution"}`;
  const chart = cdfChart(title, "Flow completion time", lines, tail);
  return (
    <Plot
      title={title}
      inputs={[data, job, tail]}
      axis="fct"
      draw={(width, theme, span) => lineChart({ ...chart, span }, width, 320, theme)}
      numbers={{ columns: ["trial", "fct_ns", "share"], rows: list.flatMap((one) => one.points.map(([value, share]) => [name(String(one.trial)), value, share])) }}
    />
  );
}

function Bars({ data }: { data: Compared }) {
  const measured = data.trials.filter((trial) => typeof trial.jct_ns === "number");
  if (measured.length < 2) return null;
  const bars = alike(data, measured).map(({ name, rows, seeds }, at) => {
    const values = rows.map((row) => (row.jct_ns ?? 0) / 1e6);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const many = values.length > 1 ? { low: Math.min(...values), high: Math.max(...values), dots: values } : {};
    return { name, value: mean, colour: at, text: values.length > 1 ? `${plain(mean, 5)} ms, ${count(seeds, "seed")}` : `${plain(mean, 5)} ms`, ...many };
  });
  const title = "Job completion time";
  return (
    <section>
      <h2>{title}</h2>
      <Plot
        title="JCT of the slowest measured job"
        note="of each trial the longest; seeds of one configuration share a bar: mean, minimum and maximum"
        inputs={[data]}
        draw={(width, theme) => barChart({ title, bars, value: { label: "JCT (ms)" } }, Math.min(width, 900), theme)}
        numbers={{ columns: ["trial", "job", "jct_ns"], rows: measured.map((trial) => [trial.name, trial.jct_job ?? null, trial.jct_ns ?? null]) }}
      />
    </section>
  );
}

function Many({ trials }: { trials: Row[] }) {
  if (trials.length < 3) return null;
  const kind = (row: Row) => row.fabric.split(",")[0] ?? "";
  const fabrics = [...new Set(trials.map(kind))];
  const all: { name: string; unit?: string; words?: string[]; of: (row: Row) => number | null }[] = [
    { name: "Fabric", words: fabrics, of: (row) => fabrics.indexOf(kind(row)) },
    { name: "Hosts", of: (row) => row.hosts ?? null },
    { name: "JCT", unit: "ms", of: (row) => number(row.jct_ns, 1e6) },
    { name: "Ideal", unit: "%", of: (row) => row.ideal_percent ?? null },
    { name: "Algbw", unit: "GB/s", of: (row) => row.algbw_gbytes_per_s ?? null },
    { name: "Busbw", unit: "GB/s", of: (row) => row.busbw_gbytes_per_s ?? null },
  ];
  // An axis on which all trials stand at one place says nothing.
  const axes = all.filter((axis) => new Set(trials.map(axis.of)).size > 1);
  if (axes.length < 2) return null;
  const lines = trials.map((row) => ({ name: row.name, values: axes.map((axis) => axis.of(row)) }));
  const title = "Trials as lines over their quantities";
  const coloured = Math.max(axes.findIndex((axis) => axis.name === "Ideal"), 0);
  return (
    <Plot
      title={title}
      inputs={[trials]}
      draw={(width, theme) => parallel({ title, axes, lines, coloured }, width, 300, theme)}
      numbers={{ columns: ["trial", ...axes.map((axis) => axis.name)], rows: trials.map((row) => [row.name, ...axes.map((axis) => (axis.words ? kind(row) : axis.of(row)))]) }}
    />
  );
}

const number = (value: number | null | undefined, size: number): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value / size : null;

function Configurations({ data }: { data: Compared }) {
  return (
    <section>
      <h2>Difference of configurations</h2>
      {data.config.length === 0 ? (
        <p className="empty">Their configurations are the same.</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Difference of configurations">
          <table data-table="configurations">
            <thead>
              <tr>
                <th>Key</th>
                {data.trials.map((trial) => (
                  <th key={trial.id}>{trial.name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.config.map((row) => (
                <tr key={row.path}>
                  <td>
                    <code>{row.path}</code>
                  </td>
                  {row.values.map((value, at) => (
                    <td key={at}>{value === null ? <span className="soft">not set</span> : <code>{value}</code>}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Pictures of all trials on the same axes, for which the server reads each trial as a whole. */
function Together({ ids }: { ids: string[] }) {
  const [drawn, setOpen] = useShown("together", flag);
  const open = isReport || drawn;
  const loaded = useLoad(open ? `compare-pictures:${ids.join(",")}` : null, () => api.comparePictures(ids));
  if (open && loaded.data) {
    return loaded.data.map((group) => (
      <section key={group.name}>
        <h2>{group.title}</h2>
        <PictureGroupView group={group} name="trials" />
      </section>
    ));
  }
  return (
    <section>
      <h2>Queues, jobs and tails of all trials</h2>
      {open ? (
        <Pending loading={loaded.loading} problem={loaded.problem} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Draw them
        </button>
      )}
    </section>
  );
}

const METRIC = word<Metric>(METRICS);

function Heats({ trials }: { trials: Row[] }) {
  const [metric, setMetric] = useShown("metric", METRIC);
  const [open, setOpen] = useShown("heat", flag);
  const shown = useMemo(() => trials.slice(0, 6), [trials]);
  return (
    <section>
      <h2>Ports over time, side by side</h2>
      {open ? (
        <>
          <div className="controls">
            <Select label="Quantity" value={metric} options={heatMetrics} onChange={setMetric} />
          </div>
          <div className="pictures">
            {shown.map((trial) => (
              <div key={trial.id}>
                <h3>{trial.name}</h3>
                <HeatPlot id={String(trial.id)} metric={metric} />
              </div>
            ))}
          </div>
        </>
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Draw heat maps
        </button>
      )}
    </section>
  );
}
