/** The shapes of the interface, by the names that the page has for them. */
import type { components } from "../api.gen";

type Schemas = components["schemas"];

export type About = Schemas["About"];
export type PresetRow = Schemas["PresetBody"];
export type Preset = Schemas["PresetText"];
export type Derived = Schemas["DerivedBody"];
export type Check = Schemas["CheckBody"];
export type Fabric = Schemas["FabricBody"];
export type Mapping = Schemas["MappingBody"];
export type Row = Schemas["TrialRow"];
export type Trial = Schemas["TrialBody"];
export type Section = Schemas["SectionBody"];
export type AnswerTable = Schemas["PrintedTable"];
export type Progress = Schemas["ProgressBody"];
export type Column = Schemas["ColumnBody"];
export type TableInfo = Schemas["TableBody"];
export type Load = Schemas["LoadBody"];
export type LoadedFabric = Schemas["LoadedFabricBody"];
export type Live = Schemas["LiveBody"];
export type HeldUpCollective = Schemas["HeldUpCollective"];
export type MeasuredBody = Schemas["MeasuredBody"];
export type PictureGroup = Schemas["PictureGroupBody"];
export type PictureBody = Schemas["PictureBody"];
export type SweepRow = Schemas["SweepRow"];
export type Sweep = Schemas["SweepBody"];
export type SweepDesign = Schemas["SweepDesign"];
export type StudyRow = Schemas["StudyRow"];
export type StudyCase = Schemas["StudyCaseBody"];
export type Study = Schemas["StudyBody"];

export type Cell = string | number | boolean | null;
/** Rows whose cells are of the kinds of their columns, which the description cannot say. */
export type TablePage = Omit<Schemas["RowsBody"], "rows"> & { rows: Cell[][] };
export type Compare = Omit<Schemas["CompareBody"], "rows" | "cdfs"> & { rows: Cell[][]; cdfs: (JobCdf & { trial: number })[] };
/** A pair of numbers, which the description calls a list. */
export type Point = [number, number];
export type JobCdf = Omit<Schemas["JobCdf"], "points"> & { points: Point[] };
export type Cdf = Omit<Schemas["CdfBody"], "jobs"> & { jobs: JobCdf[] };
export type Series = Omit<Schemas["SeriesBody"], "points"> & { points: Point[] };
export type Timeline = Schemas["TimelineBody"];
export type Heat = Schemas["HeatBody"];
