/** Numbers as people read them, with the units of the printed tables. */

export interface Unit {
  name: string;
  /** What one of it is in the unit of the data. */
  size: number;
}

const TIMES: Unit[] = [
  { name: "ns", size: 1 },
  { name: "µs", size: 1e3 },
  { name: "ms", size: 1e6 },
  { name: "s", size: 1e9 },
];
const BYTES: Unit[] = [
  { name: "B", size: 1 },
  { name: "KiB", size: 2 ** 10 },
  { name: "MiB", size: 2 ** 20 },
  { name: "GiB", size: 2 ** 30 },
  { name: "TiB", size: 2 ** 40 },
];
const RATES: Unit[] = [
  { name: "bit/s", size: 1 },
  { name: "kb/s", size: 1e3 },
  { name: "Mb/s", size: 1e6 },
  { name: "Gb/s", size: 1e9 },
  { name: "Tb/s", size: 1e12 },
];

const THROUGHPUTS: Unit[] = [
  { name: "B/s", size: 1 },
  { name: "kB/s", size: 1e3 },
  { name: "MB/s", size: 1e6 },
  { name: "GB/s", size: 1e9 },
];
/** All units of one kind, with what one of them is in ns, bytes, bit/s or B/s. */
const sized = (units: Unit[], more: [string, number][]) => new Map([...units.map(({ name, size }) => [name, size] as const), ...more]);

const KINDS = [
  sized(TIMES, [["ps", 1e-3], ["us", 1e3], ["min", 60e9], ["h", 3600e9]]),
  sized(BYTES, [["bytes", 1], ["kB", 1e3], ["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]]),
  sized(RATES, [["Mbps", 1e6], ["Gbps", 1e9], ["Tbps", 1e12], ["Mbit/s", 1e6], ["Gbit/s", 1e9], ["Tbit/s", 1e12]]),
  sized(THROUGHPUTS, []),
];

/** What each unit is in ns, bytes, bit/s or B/s. */
export const SIZES: ReadonlyMap<string, number> = new Map(KINDS.flatMap((kind) => [...kind]));

/** How many of one unit another is; nothing where they measure different things. */
export function timesOf(unit: string, other: string): number | undefined {
  const kind = KINDS.find((units) => units.has(unit));
  const [size, base] = [kind?.get(unit), kind?.get(other)];
  return size === undefined || base === undefined ? undefined : size / base;
}

const UNITS: Record<string, Unit[]> = { ns: TIMES, bytes: BYTES, B: BYTES, "bit/s": RATES, "B/s": THROUGHPUTS };

/** The largest unit of which there is at least one. */
export function unitFor(data: string, most: number): Unit {
  const units = UNITS[data] ?? [];
  const fitting = units.filter((unit) => Math.abs(most) >= unit.size);
  return fitting.at(-1) ?? units[0] ?? { name: data, size: 1 };
}

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const ROUNDED = new Map<number, Intl.NumberFormat>();

/** A number with at most `digits` significant digits after the point, and thousands grouped. */
export function plain(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "—";
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 10 ** digits) return GROUPED.format(value);
  if (size < 1e-4) return value.toExponential(1);
  const format = ROUNDED.get(digits) ?? new Intl.NumberFormat("en", { maximumSignificantDigits: digits });
  ROUNDED.set(digits, format);
  return format.format(value);
}

/** A value of the data's unit, `ns`, `bytes`, `bit/s` or any other, with the unit that fits. */
export function withUnit(value: number, data: string, digits = 4): string {
  const unit = unitFor(data, value);
  const gap = unit.name ? "\u00a0" : "";
  return `${plain(value / unit.size, digits)}${gap}${unit.name}`;
}

/** A large count in thousands, millions and so on. */
export function short(value: number): string {
  const steps: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const step = steps.find(([size]) => value >= size);
  return step ? `${plain(value / step[0], 3)} ${step[1]}` : plain(value);
}

export function percent(share: number, digits = 3): string {
  return `${plain(share * 100, digits)} %`;
}

/** Seconds that pass, for people who wait. */
export function wait(seconds: number): string {
  if (seconds < 0.001) return "under 1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${plain(seconds, 2)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${plain(seconds / 3600, 3)} h`;
}

/** Round values between `low` and `high`, with at most `most` steps between them. */
export function ticks(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/** Whether values of a unit are shown in larger ones, too. */
export const isScaled = (data: string): boolean => data in UNITS;

export const isBinary = (data: string): boolean => UNITS[data] === BYTES;

/** Powers of ten, and where there are few of them 2 and 5 times these; of bytes powers of two. */
export function logTicks(low: number, high: number, binary = false): number[] {
  if (high / low < 12) return ticks(low, high, 6);
  if (binary) {
    const [first, last] = [Math.ceil(Math.log2(low) - 1e-6), Math.floor(Math.log2(high) + 1e-6)];
    const step = [1, 2, 5, 10].find((one) => (last - first) / one <= 9) ?? 20;
    const from = Math.ceil(first / step) * step;
    return Array.from({ length: Math.max(Math.floor((last - from) / step) + 1, 0) }, (_, at) => 2 ** (from + at * step));
  }
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const decades = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const times = high / low < 300 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades.length / 8));
  return decades
    .filter((_, at) => at % every === 0)
    .flatMap((decade) => times.map((one) => one * 10 ** decade))
    .filter((value) => value >= low * 0.999 && value <= high * 1.001);
}
