/** Plots of one trial, each with an address by which the notebook pins it. */
import * as api from "../api/client";
import { heatMap } from "../draw/heat";
import { lineChart } from "../draw/lines";
import { withUnit } from "../draw/numbers";
import { useLoad } from "../ui/load";
import { Pending } from "../ui/parts";
import { Plot } from "../ui/plot";

export interface PlotProps {
  id: string;
  onPin?: ((title: string, query: string) => void) | undefined;
}

export type Of = "fct" | "latency";
const OF: Record<Of, string> = { fct: "Flow completion time", latency: "Frame latency, mean of each chunk" };

export function CdfPlot({ id, of, tail, job, onPin }: PlotProps & { of: Of; tail: boolean; job?: string }) {
  const cdf = useLoad(`cdf:${id}:${of}:${job ?? ""}`, () => api.cdf(id, { of, job }));
  if (!cdf.data) return <Pending loading={cdf.loading} problem={cdf.problem} />;
  const jobs = cdf.data.jobs.filter((one) => one.points.length > 0);
  if (jobs.length === 0) return <p className="empty">No flow was completed.</p>;
  const title = tail ? `${OF[of]}, tail` : `${OF[of]}, distribution`;
  const series = jobs.map((one) => ({
    name: one.job,
    points: tail
      ? one.points.filter((point) => point[1] < 1).map(([value, share]) => [value, 1 - share] as const)
      : [[one.points[0]?.[0] ?? 0, 0] as const, ...one.points],
  }));
  const query = `${tail ? "tail" : "cdf"}?of=${of}${job ? `&job=${job}` : ""}`;
  return (
    <Plot
      title={title}
      note={jobs.map((one) => `${one.job}: ${one.count.toLocaleString("en")} flows`).join(", ")}
      inputs={[cdf.data, tail]}
      draw={(width, theme) =>
        lineChart(
          {
            title,
            series,
            steps: true,
            x: { label: OF[of], unit: "ns", log: tail },
            y: tail
              ? { label: "Share of flows that take longer", log: true, format: (value) => `${Number((value * 100).toPrecision(2))} %` }
              : { label: "Share of flows", low: 0, high: 1, values: [0, 0.25, 0.5, 0.75, 1], format: (value) => `${Math.round(value * 100000) / 1000} %` },
          },
          width,
          320,
          theme,
        )
      }
      numbers={{ columns: ["job", "value_ns", "share"], rows: jobs.flatMap((one) => one.points.map(([value, share]) => [one.job, value, share])) }}
      onPin={onPin ? () => onPin(title, query) : undefined}
    />
  );
}

const METRICS: Record<string, string> = {
  queue_bytes: "Queue depth",
  queue_high_water_bytes: "Most queue depth between samples",
  utilisation: "Utilisation",
};
export const heatMetrics = Object.entries(METRICS).map(([value, label]) => ({ value, label }));

export function HeatPlot({ id, metric, onPin }: PlotProps & { metric: string }) {
  const heat = useLoad(`heat:${id}:${metric}`, () => api.heat(id, { metric, columns: 240 }));
  if (!heat.data) return <Pending loading={heat.loading} problem={heat.problem} />;
  const { ports, times_ns: times, values, unit, max } = heat.data;
  const title = `${METRICS[metric] ?? metric}, port by time`;
  if (ports.length === 0 || times.length === 0) {
    return <p className="empty">There are no samples of ports: `observe.samples` was off, or nothing waited.</p>;
  }
  return (
    <Plot
      title={title}
      note={`greatest: ${withUnit(max, unit)}`}
      inputs={[heat.data]}
      draw={(width, theme) => heatMap({ title, rows: ports, times, values, unit, max }, width, theme)}
      numbers={{ columns: ["port", ...times.map((time) => `${time} ns`)], rows: ports.map((name, at) => [name, ...(values[at] ?? [])]) }}
      onPin={onPin ? () => onPin(title, `heat?metric=${metric}`) : undefined}
    />
  );
}

export function PortPlot({ id, port, metric, onPin }: PlotProps & { port: string; metric: string }) {
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
      draw={(width, theme) =>
        lineChart({ title, steps: true, series: [{ name: port, points }], x: { label: "Time", unit: "ns" }, y: { label, unit, low: 0 } }, width, 240, theme)
      }
      numbers={{ columns: ["time_ns", `${metric} (${unit})`], rows: points }}
      onPin={onPin ? () => onPin(title, `port?port=${encodeURIComponent(port)}&metric=${metric}`) : undefined}
    />
  );
}

/** The plot that an address names, for the notebook. */
export function PinnedPlot({ id, address }: { id: string; address: string }) {
  const [kind = "", query = ""] = address.split("?");
  const given = new URLSearchParams(query);
  const of = given.get("of") === "latency" ? "latency" : "fct";
  const metric = given.get("metric") ?? "queue_high_water_bytes";
  if (kind === "cdf" || kind === "tail") {
    const job = given.get("job");
    return <CdfPlot id={id} of={of} tail={kind === "tail"} {...(job ? { job } : {})} />;
  }
  if (kind === "heat") return <HeatPlot id={id} metric={metric} />;
  if (kind === "port") return <PortPlot id={id} port={given.get("port") ?? ""} metric={metric} />;
  return <p className="empty">The note pins a plot that this version does not know: {address}</p>;
}
