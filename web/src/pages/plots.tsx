/** Plots of one trial, each with an address by which the notebook pins it. */
import * as api from "../api/client";
import type { Trial } from "../api/types";
import { cdfChart } from "../draw/cdf";
import { heatMap } from "../draw/heat";
import { lineChart } from "../draw/lines";
import { percent, plain, withUnit } from "../draw/numbers";
import { count } from "../ui/format";
import { useLoad } from "../ui/load";
import { HEAT_COLUMNS, METRICS as METRIC_KEYS } from "../views";
import { Pending } from "../ui/parts";
import { Plot } from "../ui/plot";
import { TABLE_PICTURES, TablePictureView } from "../ui/table-pictures";
import { TimelineView } from "../ui/timeline-view";

export interface PlotProps {
  id: string;
  onPin?: ((title: string, query: string) => void) | undefined;
}

export type Of = "fct" | "latency";
const OF: Record<Of, string> = { fct: "Flow completion time", latency: "Frame latency, mean of each chunk" };

export function CdfPlot({ id, of, tail, job, onPin }: PlotProps & { of: Of; tail: boolean; job?: string }) {
  const cdf = useLoad(`cdf:${id}:${of}:${job ?? ""}`, () => api.cdf(id, { of, ...(job ? { job: Number(job) } : {}) }));
  if (!cdf.data) return <Pending loading={cdf.loading} problem={cdf.problem} />;
  const jobs = cdf.data.jobs.filter((one) => one.points.length > 0);
  if (jobs.length === 0) return <p className="empty">No flow was completed.</p>;
  const title = tail ? `${OF[of]}, tail` : `${OF[of]}, distribution`;
  const chart = cdfChart(title, OF[of], jobs, tail);
  const query = `${tail ? "tail" : "cdf"}?of=${of}${job ? `&job=${job}` : ""}`;
  return (
    <Plot
      title={title}
      note={jobs.map((one) => `${one.name}: ${count(one.count, "flow")}`).join(", ")}
      inputs={[cdf.data, tail]}
      axis={of}
      draw={(width, theme, span) => lineChart({ ...chart, span }, width, 320, theme)}
      numbers={{ columns: ["job", "value_ns", "share"], rows: jobs.flatMap((one) => one.points.map(([value, share]) => [one.name, value, share])) }}
      onPin={onPin ? () => onPin(title, query) : undefined}
    />
  );
}

export type Metric = api.Metric;

const METRICS: Record<Metric, string> = {
  queue_bytes: "Queue depth",
  queue_high_water_bytes: "Highest queue depth between samples",
  utilisation: "Utilisation",
  tx_gbps: "Rate of sending",
  paused_classes: "Paused classes",
};
/** A value of a metric with its unit. */
function say(value: number, unit: string, metric: string): string {
  if (metric === "utilisation") return percent(value);
  return unit === "bytes" ? withUnit(value, unit) : `${plain(value)} ${unit}`;
}

export const heatMetrics = METRIC_KEYS.map((value) => ({ value, label: METRICS[value] }));

export function HeatPlot({ id, metric, onPin }: PlotProps & { metric: Metric }) {
  const heat = useLoad(`heat:${id}:${metric}`, () => api.heat(id, { metric, columns: HEAT_COLUMNS }));
  if (!heat.data) return <Pending loading={heat.loading} problem={heat.problem} />;
  const { ports, times_ns: times, unit, max, total } = heat.data;
  const values = heat.data.values.map((row) => row.map((value) => value ?? 0));
  const title = `${METRICS[metric] ?? metric}, port by time`;
  if (ports.length === 0 || times.length === 0) {
    return <p className="empty">There are no samples of ports: `observe.samples` was off, or nothing waited.</p>;
  }
  return (
    <Plot
      title={title}
      note={`${total > ports.length ? `the ${ports.length} ports with the highest values of ${total}; ` : ""}highest: ${say(max, unit, metric)}`}
      inputs={[heat.data]}
      axis="time"
      draw={(width, theme, span) => heatMap({ title, span, rows: ports, times, values, say: (value) => say(value, unit, metric), max }, width, theme)}
      numbers={{ columns: ["port", ...times.map((time) => `${time} ns`)], rows: ports.map((name, at) => [name, ...(values[at] ?? [])]) }}
      onPin={onPin ? () => onPin(title, `heat?metric=${metric}`) : undefined}
    />
  );
}

export function PortPlot({ id, port, metric, onPin }: PlotProps & { port: string; metric: Metric }) {
  const series = useLoad(`port:${id}:${port}:${metric}`, () => api.port(id, port, { metric, width: 1000 }));
  if (!series.data) return <Pending loading={series.loading} problem={series.problem} />;
  const { points, unit } = series.data;
  const label = METRICS[metric] ?? metric;
  const title = `${label} of ${port}`;
  if (points.length === 0) return <p className="empty">There are no samples of this port.</p>;
  return (
    <Plot
      title={title}
      inputs={[series.data]}
      axis="time"
      draw={(width, theme, span) =>
        lineChart({ title, span, steps: true, series: [{ name: port, points }], x: { label: "Time", unit: "ns" }, y: metric === "utilisation" ? { label, low: 0, high: 1, format: (value) => `${plain(value * 100)} %` } : { label, unit: unit === "Gb/s" ? "" : unit, low: 0, ...(unit === "Gb/s" ? { format: (value: number) => `${plain(value)} Gb/s` } : {}) } }, width, 240, theme)
      }
      numbers={{ columns: ["time_ns", `${metric} (${unit})`], rows: points }}
      onPin={onPin ? () => onPin(title, `port?port=${encodeURIComponent(port)}&metric=${metric}`) : undefined}
    />
  );
}

/** Percentiles of each job, beside the plots. */
export function Percentiles({ id, of }: { id: string; of: Of }) {
  const cdf = useLoad(`cdf:${id}:${of}:`, () => api.cdf(id, { of }));
  const jobs = cdf.data?.jobs ?? [];
  if (jobs.length === 0) return null;
  const heads = ["P50", "P95", "P99", "P99.9", "max"];
  const values = (job: (typeof jobs)[number]) => [job.p50, job.p95, job.p99, job.p999, job.max];
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Percentiles">
      <table>
        <thead>
          <tr>
            <th>Job</th>
            <th className="n">Flows</th>
            {heads.map((head) => (
              <th key={head} className="n">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.job}>
              <td>{job.name}</td>
              <td className="n">{plain(job.count)}</td>
              {values(job).map((value, at) => (
                <td key={at} className="n">
                  {typeof value === "number" ? withUnit(value, "ns", 5) : "—"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The plot that an address names, for the notebook. */
export function PinnedPlot({ trial, address }: { trial: Trial; address: string }) {
  const id = String(trial.id);
  const [kind = "", query = ""] = address.split("?");
  const given = new URLSearchParams(query);
  const of = given.get("of") === "latency" ? "latency" : "fct";
  const metric = heatMetrics.find((one) => one.value === given.get("metric"))?.value ?? "queue_high_water_bytes";
  if (kind === "cdf" || kind === "tail") {
    const job = given.get("job");
    return <CdfPlot id={id} of={of} tail={kind === "tail"} {...(job ? { job } : {})} />;
  }
  if (kind === "timeline") return <TimelineView id={id} jobs={[]} />;
  if (kind === "heat") return <HeatPlot id={id} metric={metric} />;
  if (kind === "port") return <PortPlot id={id} port={given.get("port") ?? ""} metric={metric} />;
  if (Object.hasOwn(TABLE_PICTURES, kind)) return <TablePictureView name={kind} trial={trial} />;
  return <p className="empty">The note pins a plot that this version does not know: {address}</p>;
}
