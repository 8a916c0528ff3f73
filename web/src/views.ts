/** The views with which pages begin, once for pages and for reports: a report has the answers to these. */
import { canonical } from "./embedded.ts";
import * as PICTURES from "./pictures/tables/index.ts";

/** Rows of a table that are asked for at once. */
export const ROWS = 200;
/** Pixel columns of a timeline in a report, whatever the width of its window will be. */
export const TIMELINE_WIDTH = 400;
export const HEAT_COLUMNS = 240;

/** Columns of a table that are shown at first, in this order, and how its rows are sorted. */
export interface TableView {
  table: string;
  columns: string[];
  sort: string;
}

export const CHUNKS: TableView = {
  table: "flows",
  columns: ["job_name", "chunk", "src_rank", "dst_rank", "fct_ns", "posted_ns", "received_ns", "payload_bytes", "tx_frames", "rx_frames", "frames_delta", "latency_min_ns", "latency_avg_ns", "latency_max_ns", "rx_marked_frames", "cnp_frames"],
  sort: "fct_ns",
};
export const PORTS: TableView = {
  table: "ports",
  columns: ["node_name", "port", "peer_name", "rate_gbps", "utilisation", "queue_pairs", "tx_bytes", "rx_bytes", "queue_high_water_bytes", "marked_frames", "dropped_frames", "tx_xoff_frames", "rx_xoff_frames", "paused_ns", "tx_cnp_frames", "rx_cnp_frames"],
  sort: "utilisation",
};
export const QUEUES: TableView = {
  table: "queues",
  columns: ["node_name", "port", "peer_name", "class", "lossless", "queue_high_water_bytes", "marked_frames", "dropped_frames", "rx_xoff_frames", "tx_xoff_frames", "paused_ns", "pausing_ns", "headroom_high_water_bytes"],
  sort: "queue_high_water_bytes",
};

/** The parts of a trial's page, in their order, with their labels. */
export const PARTS = {
  summary: "Summary",
  operations: "Operations",
  cdf: "CDF and tail",
  timeline: "Timeline",
  "held-up": "What held it up",
  fabric: "Fabric",
  links: "Links",
  circuits: "Circuits",
  queues: "Queues and pauses",
  ports: "Ports",
  chunks: "Data chunks",
  flows: "Flows",
  settings: "Settings",
} as const;
export type PartId = keyof typeof PARTS;

/** The groups of pictures of a trial. */
export const GROUPS = ["fct", "operations", "circuits", "jobs", "time", "links"] as const;
export type Group = (typeof GROUPS)[number];

export const METRICS = ["queue_high_water_bytes", "queue_bytes", "utilisation", "tx_gbps", "paused_classes"] as const;

const of = (path: string, query: Record<string, string | number> = {}): string =>
  canonical(`/api/v1/${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`);

const first = ({ table, columns, sort }: TableView): string =>
  of(`trials/{id}/tables/${table}`, { columns: columns.join(","), sort, order: "desc", offset: 0, limit: ROWS });

/** The order in which trials are listed for a choice. */
export const RECENT = { sort: "created", order: "desc", limit: 100 } as const;
/** A report lists all of its trials. */
export const ALL = { ...RECENT, limit: 10_000 } as const;

/** Addresses whose answers a report has, the most important first: `{id}` is a trial, `{ids}` are all of them. */
export const REPORT = {
  workspace: [of("trials", ALL)],
  trial: [
    of("trials/{id}"),
    of("trials/{id}/config"),
    of("trials/{id}/tables"),
    of("trials/{id}/held-up"),
    of("trials/{id}/cdf", { of: "fct" }),
    ...GROUPS.map((group) => of("trials/{id}/pictures", { group })),
    first(CHUNKS),
    first(PORTS),
    first(QUEUES),
    of("trials/{id}/cdf", { of: "latency" }),
    of("trials/{id}/fabric"),
    ...METRICS.map((metric) => of("trials/{id}/ports-heat", { metric, columns: HEAT_COLUMNS })),
    ...Object.values(PICTURES).map(({ table, query }) => of(`trials/{id}/tables/${table}`, query)),
    of("trials/{id}/timeline", { width: TIMELINE_WIDTH }),
  ],
  several: [of("compare", { ids: "{ids}" }), of("compare/pictures", { ids: "{ids}" })],
};
