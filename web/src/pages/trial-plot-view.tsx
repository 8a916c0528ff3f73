/** The plot over the trials that are picked, or over all that are listed. */
import { useMemo } from "react";
import type { Row } from "../api/types";
import { barChart } from "../draw/bars";
import { lineChart } from "../draw/lines";
import { plain } from "../draw/numbers";
import { count } from "../ui/format";
import { Select } from "../ui/parts";
import { Plot } from "../ui/plot";
import { useShown } from "../ui/router";
import { text } from "../ui/view-kinds";
import type { TrialColumn } from "./trial-columns";
import { plotOf } from "./trial-plot";

/** More bars are in the table alone. */
const BARS = 80;

/** A little more than the values take, so that whiskers at the ends are not cut. */
function room(values: readonly number[], log: boolean): { low: number; high: number } {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const more = (high - low) * 0.02;
  return log ? { low: low / 1.06, high: high * 1.06 } : { low: low - more, high: high + more };
}

export function TrialPlotView({ rows, columns, picked }: { rows: Row[]; columns: readonly TrialColumn[]; picked: boolean }) {
  // What is the same everywhere makes no axis.
  const varied = useMemo(() => columns.filter((column) => new Set(rows.map(column.of)).size > 1), [columns, rows]);
  const numbers = varied.filter((column) => column.kind === "number" && column.key !== "created" && column.key !== "seed");
  const settings = varied.filter((column) => column.section === "Settings");
  const [yKey, setY] = useShown("y", text);
  const [xKey, setX] = useShown("x", text);
  const [byKey, setBy] = useShown("by", text);
  const y = numbers.find((column) => column.key === yKey) ?? numbers.find((column) => column.section === "Readings") ?? numbers[0];
  const across = settings.find((column) => column.kind === "number" && column.key !== "seed") ?? settings[0];
  const x = varied.find((column) => column.key === xKey) ?? across ?? varied.find((column) => column !== y);
  const by = byKey === "none" ? undefined : (varied.find((column) => column.key === byKey) ?? settings.find((column) => column.key === "variant" && column !== x));
  const made = useMemo(() => (x && y ? plotOf(rows, x, y, by) : undefined), [rows, x, y, by]);
  if (!made || !x || !y) return <p className="empty">These trials do not differ in any number.</p>;
  const options = (list: readonly TrialColumn[]) => list.map((column) => ({ value: column.key, label: `${column.label}${column.section === "Trial" ? "" : `, ${column.section === "Settings" ? "setting" : "reading"}`}` }));
  const title = `${y.label} over ${x.label}`;
  const values = made.marks.flatMap((mark) => [mark.least, mark.greatest]);
  const logY = made.log && Math.min(...values) > 0 && Math.max(...values) > 8 * Math.min(...values);
  const axis = { label: y.label, unit: y.unit === "%" || y.unit === "GB/s" ? "" : y.unit };
  const named = y.unit === "%" || y.unit === "GB/s" ? { ...axis, label: `${y.label} (${y.unit})` } : axis;
  const note = `${count(rows.length, picked ? "picked trial" : "trial")}; median, whiskers from minimum to maximum${made.left > 0 ? `; ${plain(made.left)} lines are left out` : ""}${made.bars.length > BARS ? `; the first ${BARS} of ${plain(made.bars.length)} bars` : ""}`;
  return (
    <section aria-label="Plot of trials">
      <div className="controls">
        <Select label="Quantity" value={y.key} options={options(numbers)} onChange={setY} />
        <Select label="Over" value={x.key} options={options(varied)} onChange={setX} />
        <Select label="A line for each" value={by?.key ?? "none"} options={[{ value: "none", label: "—" }, ...options(varied.filter((column) => column !== x && column !== y))]} onChange={setBy} />
      </div>
      <Plot
        title={title}
        note={note}
        inputs={[made]}
        axis={x.kind === "number" ? x.key : undefined}
        draw={(width, theme, span) =>
          x.kind === "number"
            ? lineChart({ title, span, series: made.series, x: { label: x.label, unit: x.unit, log: made.log, ...room(made.marks.map((mark) => Number(mark.x)), made.log) }, y: { ...named, log: logY, ...(logY ? {} : { low: Math.min(0, ...values) }) } }, width, 330, theme)
            : barChart({ title, bars: made.bars.slice(0, BARS), value: named }, Math.min(width, 980), theme)
        }
        numbers={{
          columns: [by?.label ?? "line", x.label, "trials", `minimum (${y.unit})`, `median (${y.unit})`, `maximum (${y.unit})`],
          rows: made.marks.map((mark) => [mark.name, x.say(mark.x), mark.trials, mark.least, mark.middle, mark.greatest]),
        }}
      />
    </section>
  );
}
