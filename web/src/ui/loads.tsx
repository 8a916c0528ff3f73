/** A fabric with the load of its cables in colour. */
import { useMemo } from "react";
import type { Load, LoadedFabric } from "../api/types";
import { percent, plain, withUnit } from "../draw/numbers";
import { css, loadColour } from "../draw/theme";
import { FabricView } from "./fabric-view";
import type { Numbers } from "../pictures/kind";
import { useTheme } from "./theme";

/** What cables are coloured by. */
export const SHOWN = [
  { value: "utilisation", label: "Utilisation", unit: "", of: (load: Load) => load.utilisation },
  { value: "queue", label: "Queue depth", unit: "bytes", of: (load: Load) => load.queue_bytes },
  { value: "marks", label: "ECN marks", unit: "frames", of: (load: Load) => load.marked_frames ?? 0 },
  { value: "pauses", label: "Pauses", unit: "ns", of: (load: Load) => load.paused_ns ?? (load.paused ? 1 : 0) },
  { value: "drops", label: "Frames dropped", unit: "frames", of: (load: Load) => load.dropped_frames ?? 0 },
  { value: "jobs", label: "Jobs", unit: "", of: null },
] as const;

export type Shown = (typeof SHOWN)[number];

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

const COLUMNS = ["from", "to", "utilisation_percent", "tx_bytes", "queue_bytes", "marked_frames", "rx_xoff_frames", "paused_ns", "dropped_frames"];

/** The links in the order of their names. */
function numbersOf(fabric: LoadedFabric, loads: Load[]): Numbers {
  const rows = loads.map((load) => {
    const link = fabric.links[load.link];
    const names = [fabric.nodes[link?.a ?? 0]?.name ?? "", fabric.nodes[link?.b ?? 0]?.name ?? ""];
    const ends = load.direction === 0 ? names : names.reverse();
    const rest = [load.marked_frames, load.rx_xoff_frames, load.paused_ns, load.dropped_frames];
    return [...ends, load.utilisation * 100, load.tx_bytes, load.queue_bytes, ...rest.map((one) => one ?? null)];
  });
  return { columns: COLUMNS, rows };
}

interface PictureProps {
  fabric: LoadedFabric;
  loads: Load[];
  shown: Shown;
  /** The time that loads are of, as a part of the title. */
  when: string;
  height?: number;
}

export function Picture({ fabric, loads, shown, when, height = 560 }: PictureProps) {
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
        height={height}
        loads={shown.of ? coloured.shares : undefined}
        jobs={nodeJobs}
        sayLinks={sayLinks}
        numbers={() => numbersOf(fabric, loads)}
      />
    </>
  );
}
