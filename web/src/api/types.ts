import type { Problem } from "./problem";

export interface About { version: string; folder: string; threads: number; available_memory_bytes?: number | null; token: boolean }
export interface PresetRow { name: string; kind: string; meaning: string }
export interface Preset extends PresetRow { text: string }

export interface Row {
  id: number;
  name: string;
  state: string;
  tags: string[];
  /** Seconds since 1970. */
  created: number;
  started?: number | null;
  ended?: number | null;
  error?: string | null;
  folder?: string | null;
  jobs?: number | null;
  collective?: string | null;
  jct_ns?: number | null;
  jct_text?: string | null;
  ideal_percent?: number | null;
  ideal_text?: string | null;
  algbw_text?: string | null;
  busbw_text?: string | null;
  digest?: string | null;
  fabric: string;
  hosts?: number | null;
  seconds?: number | null;
  seed?: string | null;
  algbw_gbytes_per_s?: number | null;
  busbw_gbytes_per_s?: number | null;
  ideals: (number | null)[];
}
export interface Page { total: number; rows: Row[] }
export interface Column { name: string; unit: string; meaning: string; kind?: string }
export interface JobTable { job: string; headline: string; columns: Column[]; rows: string[][] }
export interface SummaryJson {
  complete: boolean;
  stopped?: string | null;
  jobs: { job_name: string; ranks: number; background: boolean; jct_ns: number | null }[];
  warnings: string[];
  notes: string[];
}
export interface Trial extends Row {
  note: string;
  summary?: SummaryJson | null;
  summary_text?: string | null;
  summary_csv?: string | null;
  summary_tables?: JobTable[] | null;
  summary_lines?: [string, string][] | null;
}

export interface Derived { path: string; value: string | number | boolean; unit: string }
export interface Estimate { packet_hops: number; flows: number; simulated_ns: number; seconds: number; memory_bytes: number; exceeds_memory: boolean }
export interface Check {
  problems: Problem[];
  warnings: Problem[];
  notes: string[];
  effective?: string | null;
  fabric?: string | null;
  hosts?: number | null;
  jobs: { name: string; ranks: number; background: boolean; collectives: number }[];
  derived: Derived[];
  explanation?: string | null;
  estimate?: Estimate | null;
}

export interface FabricNode { id: number; name: string; tier: number; kind: string; group?: number | null }
export interface FabricLink { a: number; b: number; rate_bps: number }
export interface Fabric { kind: string; nodes: FabricNode[]; links: FabricLink[] }
export interface RankPlace { rank: number; host: string; nic: string; port: string; leaf?: string | null; address?: string | null }
export interface Mapping { jobs: { name: string; ranks: RankPlace[] }[]; hosts: { name: string; leaf?: string | null }[] }

export interface TableInfo { name: string; rows: number; columns: Column[] }
export type Cell = string | number | boolean | null;
export interface TablePage { total: number; columns: Column[]; rows: Cell[][] }
export interface Cdf { of: string; unit: string; jobs: { job: string; count: number; points: [number, number][] }[] }
export interface Timeline { from_ns: number; to_ns: number; lanes: { name: string; job: number }[]; bars: number[][]; merged: boolean; total: number }
export interface Series { unit: string; points: [number, number][] }
export interface Heat { unit: string; times_ns: number[]; ports: string[]; values: number[][]; max: number }
export interface LoadedFabric extends Fabric { times_ns: number[]; loads: number[][]; jobs_of_node?: number[][] | null }
export interface HeldUp { jobs: { job: string; collective: string; text: string; chain: { what: string; text: string; start_ns: number; end_ns: number; share: number }[] }[] }
export interface Compare {
  trials: Row[];
  rows: { label: string; job: string; unit?: string; values: (number | null)[]; texts: (string | null)[]; difference_percent: (number | null)[] }[];
  config: { path: string; values: (string | null)[] }[];
  cdfs: { job: string; trial: string; points: [number, number][] }[];
}
export interface Sweep {
  id: string; name: string; state: string; total: number; done: number; failed: number; created: number;
  axes: { path: string; values: string[] }[];
  readings: string[];
  rows: { point: Record<string, string>; trial_id?: string | null; state: string; readings: Record<string, number | null> }[];
}
export interface StudyRow { name: string; title: string; source: string }
export interface Study extends StudyRow {
  cases: { case: string; metric: string; unit: string; published: number | null; measured: number | null; band_low?: number | null; band_high?: number | null; verdict: string; gate?: string; variant?: string }[];
  page: string;
}
export interface Progress {
  id: number;
  fraction?: number | null;
  simulated_ns: number;
  packet_hops: number;
  expected_packet_hops?: number | null;
  packet_hops_per_s: number;
  elapsed_s: number;
  eta_s?: number | null;
  flows_done: number;
  flows_total: number;
}
