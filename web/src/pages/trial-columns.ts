/** What lists of trials have in columns: what every trial has, and settings and readings of their sweeps. */
import type { Row, SweepDesign } from "../api/types";
import { median } from "../draw/median";
import { plain, wait, withUnit } from "../draw/numbers";
import { textWidth } from "../draw/svg";
import { hundredths, moment } from "../ui/format";

export type Value = string | number | undefined;

export interface TrialColumn {
  key: string;
  label: string;
  /** The unit of the numbers: `ns`, `bytes`, `GB/s`; empty for texts and counts. */
  unit: string;
  kind: "number" | "text";
  /** Under which heading it is offered. */
  section: "Trial" | "Settings" | "Readings";
  /** By what trials are sorted, filtered, grouped and plotted. */
  of: (row: Row) => Value;
  /** A value as it is shown: that of a trial, or of several. */
  say: (value: Value) => string;
  /** What a trial shows where that is more than its value. */
  text?: (row: Row) => string;
  meaning?: string;
}

const NONE = "—";
const number = (value: number | null | undefined): Value => value ?? undefined;
const text = (value: Value): string => (value === undefined ? NONE : String(value));
const when = (said: (value: number) => string) => (value: Value) => (typeof value === "number" ? said(value) : NONE);
const given = (value: string | null | undefined): Value => value || undefined;

const TRIAL: Omit<TrialColumn, "section">[] = [
  { key: "name", label: "Trial", unit: "", kind: "text", of: (row) => row.name, say: text },
  { key: "state", label: "State", unit: "", kind: "text", of: (row) => row.state, say: text },
  { key: "tags", label: "Tags", unit: "", kind: "text", of: (row) => given(row.tags.join(", ")), say: text },
  { key: "jct_ns", label: "JCT", unit: "ns", kind: "number", of: (row) => number(row.jct_ns), say: when((value) => withUnit(value, "ns", 5)), meaning: "Longest completion time of a measured job" },
  { key: "ideal_percent", label: "Ideal", unit: "%", kind: "number", of: (row) => number(row.ideal_percent), say: when(hundredths), text: (row) => row.ideal_text ?? hundredths(row.ideal_percent), meaning: "Ideal time over completion time, of the measured collective where that is lowest" },
  { key: "algbw_gbytes_per_s", label: "Algbw", unit: "GB/s", kind: "number", of: (row) => number(row.algbw_gbytes_per_s), say: when(hundredths), text: (row) => row.algbw_text ?? hundredths(row.algbw_gbytes_per_s) },
  { key: "busbw_gbytes_per_s", label: "Busbw", unit: "GB/s", kind: "number", of: (row) => number(row.busbw_gbytes_per_s), say: when(hundredths), text: (row) => row.busbw_text ?? hundredths(row.busbw_gbytes_per_s) },
  { key: "collective", label: "Collective", unit: "", kind: "text", of: (row) => given(row.collective), say: text, meaning: "Which collective percentage and bandwidths are of" },
  { key: "fabric", label: "Fabric", unit: "", kind: "text", of: (row) => given(row.fabric), say: text },
  { key: "hosts", label: "Hosts", unit: "", kind: "number", of: (row) => number(row.hosts), say: when(plain) },
  { key: "jobs", label: "Jobs", unit: "", kind: "number", of: (row) => number(row.jobs), say: when(plain) },
  { key: "seconds", label: "Wall time", unit: "s", kind: "number", of: (row) => number(row.seconds), say: when(wait) },
  { key: "created", label: "Created", unit: "s", kind: "number", of: (row) => row.created, say: when(moment) },
  { key: "digest", label: "Digest", unit: "", kind: "text", of: (row) => given(row.digest), say: (value) => text(value).slice(0, 8) },
];

type Designs = ReadonlyMap<number, SweepDesign>;

/** The design of the sweep of a trial, with its place there. */
function placed(designs: Designs, row: Row): { design: SweepDesign; place: NonNullable<Row["place"]> } | undefined {
  const design = typeof row.sweep === "number" ? designs.get(row.sweep) : undefined;
  return design && row.place ? { design, place: row.place } : undefined;
}

/** An axis of any sweep; sweeps that vary the same key share it. */
function setting(path: string, label: string, designs: Designs): Omit<TrialColumn, "section"> {
  const places = new Map<number, { place: number; values: Map<string, number> | undefined }>();
  const texts = new Map<number, string>();
  const units = new Set<string>();
  for (const design of designs.values()) {
    const place = design.axes.findIndex((axis) => axis.path === path);
    const axis = design.axes[place];
    if (!axis) continue;
    const values = axis.numbers ? new Map(axis.values.map((value, at) => [value, axis.numbers?.[at] ?? NaN])) : undefined;
    for (const [word, value] of values ?? []) texts.set(value, word);
    units.add(values ? axis.unit : "words");
    places.set(design.id, { place, values });
  }
  // Where one sweep has words, or they measure different things, texts are all they have in common.
  const [unit] = units;
  const numeric = units.size === 1 && unit !== "words";
  const of = (row: Row): Value => {
    const found = placed(designs, row);
    const axis = found && places.get(found.design.id);
    const word = axis && found.design.points[found.place.point]?.[axis.place];
    return numeric && word !== undefined ? axis?.values?.get(word) : word;
  };
  const say = numeric ? when((value) => texts.get(value) ?? withUnit(value, unit ?? "")) : text;
  return { key: `set:${path}`, label, unit: numeric ? (unit ?? "") : "", kind: numeric ? "number" : "text", of, say, meaning: path };
}

function reading(name: string, unit: string, designs: Designs): Omit<TrialColumn, "section"> {
  const places = new Map([...designs.values()].map((design) => [design.id, design.readings.findIndex((one) => one.name === name && one.unit === unit)]));
  const of = (row: Row): Value => {
    const found = placed(designs, row);
    return found ? number(found.place.readings[places.get(found.design.id) ?? -1]) : undefined;
  };
  return { key: `read:${name}${unit ? ` (${unit})` : ""}`, label: name, unit, kind: "number", of, say: when((value) => withUnit(value, unit, 5)), meaning: `Reading ${name} of the sweep` };
}

/** All columns that trials of these sweeps may have; settings and readings that several sweeps share are one. */
export function trialColumns(sweeps: readonly SweepDesign[]): TrialColumn[] {
  const designs = new Map(sweeps.map((design) => [design.id, design]));
  const paths = new Map(sweeps.flatMap((design) => design.axes.map((axis) => [axis.path, axis.label || axis.path] as const)));
  const read = new Map(sweeps.flatMap((design) => design.readings.map((one) => [`${one.name}\n${one.unit}`, one] as const)));
  const alike = (design: SweepDesign) => sweeps.filter((other) => other.name === design.name).length > 1;
  // Sweeps that were run again have one name, and their trials are not those of one sweep.
  const titles = new Map(sweeps.map((design) => [design.id, alike(design) ? `${design.name} (${design.id})` : design.name]));
  const swept: Omit<TrialColumn, "section">[] =
    sweeps.length === 0
      ? []
      : [
          { key: "sweep", label: "Sweep", unit: "", kind: "text", of: (row) => titles.get(placed(designs, row)?.design.id ?? NaN), say: text },
          {
            key: "variant",
            label: "Variant",
            unit: "",
            kind: "text",
            of: (row) => {
              const found = placed(designs, row);
              return given(found?.design.variants[found.place.variant]);
            },
            say: text,
          },
        ];
  const under = (section: TrialColumn["section"], columns: Omit<TrialColumn, "section">[]) => columns.map((column) => ({ ...column, section }));
  return [
    ...under("Trial", TRIAL),
    ...under("Settings", [...swept, ...[...paths].map(([path, label]) => setting(path, label, designs)), { key: "seed", label: "Seed", unit: "", kind: "number", of: (row) => (row.seed ? Number(row.seed) : undefined), say: text, text: (row) => row.seed ?? NONE }]),
    ...under("Readings", [...read.values()].map((one) => reading(one.name, one.unit, designs))),
  ];
}

/** What came out of a trial, of which a group has a median; of what was set it has what all have in common. */
export const isResult = (column: TrialColumn): boolean => column.kind === "number" && column.section !== "Settings" && !["created", "hosts", "jobs"].includes(column.key);

export function middleOf(values: readonly Value[]): Value {
  const numbers = values.filter((value): value is number => typeof value === "number");
  return numbers.length > 0 ? median(numbers.sort((a, b) => a - b)) : undefined;
}

export const commonOf = (values: readonly Value[]): Value => (values.every((value) => value === values[0]) ? values[0] : undefined);

/** Pixels beside the text of a cell. */
const BESIDE = 20;

/** Pixels for names of trials: those of a sweep begin alike, and differ where a narrow column would cut them. */
export function widthOfNames(rows: readonly Row[], window: number): number {
  const widest = rows.reduce((most, { name }) => Math.max(most, textWidth(name, 13.5)), 0);
  return Math.ceil(Math.min(Math.max(widest + BESIDE, 160), 400, window * 0.6));
}

const PLAIN = ["name", "state", "tags", "jct_ns", "ideal_percent", "spark", "busbw_gbytes_per_s", "collective", "fabric", "created"];
/** More would not fit beside each other. */
const MOST = 6;

/** What is shown at first: of trials of sweeps, in what they differ and what was read. */
export function firstColumns(columns: readonly TrialColumn[], rows: readonly Row[]): string[] {
  const swept = rows.filter((row) => row.place);
  if (swept.length === 0 || swept.length < rows.length) return PLAIN;
  const told = columns.filter((column) => column.section !== "Trial" && column.key !== "sweep" && swept.some((row) => column.of(row) !== undefined));
  const settings = told.filter((column) => column.section === "Settings").slice(0, MOST);
  const readings = told.filter((column) => column.section === "Readings").slice(0, MOST);
  return ["name", "state", ...settings.map((column) => column.key), ...(readings.length > 0 ? readings.map((column) => column.key) : ["jct_ns", "ideal_percent"])];
}
