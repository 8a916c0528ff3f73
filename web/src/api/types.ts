/** The shapes of the interface, by the names that the page has for them. */
import type { components } from "../api.gen";

type Schemas = components["schemas"];

export type About = Schemas["About"];
export type PresetRow = Schemas["PresetBody"];
export type Preset = Schemas["PresetText"];
export type Row = Schemas["TrialRow"] & { jct_text?: string | null; ideal_text?: string | null; algbw_text?: string | null; busbw_text?: string | null };
export type Column = Schemas["ColumnBody"];
export type Trial = Schemas["TrialBody"] & { printed_jobs?: PrintedJob[]; printed_lines?: string[][] };
export type Derived = Schemas["DerivedBody"];
export type Check = Schemas["CheckBody"];
export type TableInfo = Schemas["TableBody"];
export type Progress = Schemas["ProgressBody"];
export type Cell = string | number | boolean | null;
export interface TablePage {
  total: number;
  columns: Column[];
  rows: Cell[][];
}

export interface FabricNode {
  id: number;
  name: string;
  tier: number;
  kind: string;
  group?: number | null;
}
export interface FabricLink {
  a: number;
  b: number;
  a_port: number;
  b_port: number;
  rate_bps: number;
}
export interface Fabric {
  kind: string;
  tiers: number;
  nodes: FabricNode[];
  links: FabricLink[];
}
export interface Load {
  link: number;
  direction: number;
  utilisation: number;
  tx_bytes: number;
  queue_bytes: number;
  paused: boolean;
  paused_ns?: number | null;
  marked_frames?: number | null;
  rx_xoff_frames?: number | null;
  dropped_frames?: number | null;
}
export interface LoadedFabric extends Fabric {
  times_ns: number[];
  time_ns?: number | null;
  loads: Load[];
  jobs: { name: string; hosts: number[] }[];
}
export interface RankPlace {
  rank: number;
  host: string;
  node: number;
  leaf: string;
  port: string;
  address?: string | null;
}
export interface Mapping {
  jobs: { name: string; background: boolean; ranks: RankPlace[] }[];
  hosts: { name: string; leaf: string; port: string }[];
}
export interface PrintedTable {
  title: string;
  columns: { name: string; unit: string }[];
  rows: string[][];
}
export interface PrintedJob {
  name: string;
  head: string;
  tables: PrintedTable[];
}
export interface JobCdf {
  job: number;
  name: string;
  count: number;
  p50?: number | null;
  p95?: number | null;
  p99?: number | null;
  p999?: number | null;
  max?: number | null;
  points: [number, number][];
}
export interface Cdf {
  of: string;
  unit: string;
  jobs: JobCdf[];
}
export interface Timeline {
  from_ns: number;
  to_ns: number;
  first_ns: number;
  last_ns: number;
  lanes: { name: string; job: number; first_rank: number; last_rank: number }[];
  /** Lane, start, end, row of the table of flows or −1, chunks. */
  bars: number[][];
  merged: boolean;
  total: number;
}
export interface Series {
  port: string;
  unit: string;
  points: [number, number][];
}
export interface Heat {
  unit: string;
  times_ns: number[];
  ports: string[];
  values: (number | null)[][];
  max: number;
  total: number;
}
export interface HeldUpLink {
  text: string;
  waited_for: string;
  posted_ns: number;
  received_ns: number;
  rank_wait_ns: number;
  nic_wait_ns: number;
  transfer_ns: number;
  lost_ns: number;
  findings: string[];
}
export interface HeldUpCollective {
  job_name: string;
  operation: string;
  iteration: number;
  total_ns: number;
  rank_wait_ns: number;
  nic_wait_ns: number;
  fastest_ns: number;
  lost_ns: number;
  chunks: number;
  links: HeldUpLink[];
}
export interface HeldUp {
  collectives: HeldUpCollective[];
}
export interface Compare {
  trials: Row[];
  columns: Column[];
  rows: Cell[][];
  text: string;
  config: { path: string; values: (string | null)[] }[];
  cdfs: ({ trial: number } & JobCdf)[];
}
export interface SweepRow {
  id: number;
  name: string;
  state: string;
  total: number;
  done: number;
  failed: number;
  created: number;
  ended?: number | null;
  error?: string | null;
}
export interface Sweep extends SweepRow {
  text: string;
  scenario: string;
  variants: string[];
  axes: { path: string; label: string; values: string[] }[];
  readings: { name: string; unit: string; more_is_better: boolean; statistic: string }[];
  rows: { variant: string; point: string[]; seed: string; values: (number | null)[] }[];
}
export interface StudyRow {
  name: string;
  title: string;
  source: string;
  matches: number;
  judged: number;
  rows: number;
  holds: boolean;
}
export interface StudyCase {
  case: string;
  bar?: string | null;
  metric: string;
  variant: string;
  published?: number | null;
  published_text?: string | null;
  measured?: number | null;
  measured_text?: string | null;
  statistic?: string | null;
  band_low?: number | null;
  band_high?: number | null;
  gate: string;
  origin: string;
  verdict: string;
  deviation_percent?: number | null;
}
export interface Study extends StudyRow {
  digest: string;
  variants: { name: string; about: string }[];
  cases: StudyCase[];
  page: string;
  scenario: string;
}
