/** The shapes of the interface, by the names that the page has for them. */
import type { components } from "../api.gen";

type Schemas = components["schemas"];

export type About = Schemas["About"];
export type PresetRow = Schemas["PresetBody"];
export type Preset = Schemas["PresetText"];
export type Row = Schemas["TrialRow"] & { jct_text?: string | null };
export type Column = Schemas["ColumnBody"];
export type Trial = Schemas["TrialBody"] & { summary_tables?: JobTable[] | null; summary_lines?: [string, string][] | null };
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

export interface JobTable { job: string; headline: string; columns: { name: string; unit: string; meaning?: string }[]; rows: string[][] }
export interface FabricNode { id: number; name: string; tier: number; kind: string; group?: number | null }
export interface FabricLink { a: number; b: number; rate_bps: number }
export interface Fabric { kind: string; nodes: FabricNode[]; links: FabricLink[] }
export interface RankPlace { rank: number; host: string; nic: string; port: string; leaf?: string | null; address?: string | null }
export interface Mapping { jobs: { name: string; ranks: RankPlace[] }[]; hosts: { name: string; leaf?: string | null }[] }

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
