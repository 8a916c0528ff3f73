/** The readings of a sweep: the best variant of each point, and pictures. */
import type { Sweep } from "../api/types";
import { barChart } from "../draw/bars";
import { lineChart } from "../draw/lines";
import { plain } from "../draw/numbers";
import { parallel } from "../draw/parallel";
import { isReport } from "../embedded";
import { Select } from "../ui/parts";
import { Plot } from "../ui/plot";
import { useShown } from "../ui/router";
import { text } from "../ui/view-kinds";
import { SweepMatrix } from "./sweep-matrix";
import { barsOf, headed, labelOf, linesOf, pointName, type Reading, shownUnit, variantName, winners } from "./sweep-rows";

/** One of the readings, which a reader chooses; in a report all of them, so that all are printed. */
export function Readings({ sweep }: { sweep: Sweep }) {
  const [chosen, setChosen] = useShown("reading", text);
  const at = Math.max(0, sweep.readings.findIndex((one) => one.name === chosen));
  const charts = sweep.charts.map((_, place) => <Chart key={`chart${place}`} sweep={sweep} place={place} />);
  if (isReport) {
    return (
      <>
        {charts}
        {sweep.readings.map((reading) => (
          <OneReading key={reading.name} sweep={sweep} reading={reading} />
        ))}
      </>
    );
  }
  const reading = sweep.readings[at];
  return (
    <>
      {charts}
      {sweep.readings.length > 1 ? (
        <div className="controls">
          <Select label="Reading" value={String(at)} options={sweep.readings.map((one, index) => ({ value: String(index), label: one.name }))} onChange={(value) => setChosen(sweep.readings[Number(value)]?.name ?? "")} />
        </div>
      ) : null}
      {reading ? <OneReading key={reading.name} sweep={sweep} reading={reading} /> : null}
    </>
  );
}

interface Props {
  sweep: Sweep;
  reading: Reading;
}

function OneReading({ sweep, reading }: Props) {
  if (reading.cells.every((cell) => typeof cell.value !== "number")) return null;
  return (
    <section>
      <h2>{reading.name}</h2>
      <p className="soft">
        {reading.of}, {reading.statistic} of the seeds; {reading.more_is_better ? "more" : "less"} is better.
      </p>
      <Winners sweep={sweep} reading={reading} />
      <div className="pictures">
        <Bars sweep={sweep} reading={reading} />
        {sweep.axes.map((axis, place) => (
          <AxisLines key={axis.path} sweep={sweep} reading={reading} place={place} />
        ))}
      </div>
      <SweepMatrix sweep={sweep} reading={reading} />
      <AllAxes sweep={sweep} reading={reading} />
    </section>
  );
}

/** A chart that the description names. */
function Chart({ sweep, place }: { sweep: Sweep; place: number }) {
  const chart = sweep.charts[place];
  if (!chart) return null;
  const draw = (reading: Reading) => {
    if (chart.kind === "lines" && typeof chart.x === "number") return <AxisLines sweep={sweep} reading={reading} place={chart.x} />;
    if (chart.kind === "heat" && typeof chart.x === "number" && typeof chart.y === "number") return <SweepMatrix sweep={sweep} reading={reading} sides={[chart.y, chart.x]} />;
    if (chart.kind === "parallel") return <AllAxes sweep={sweep} reading={reading} />;
    return <Bars sweep={sweep} reading={reading} />;
  };
  return (
    <section>
      <h2>{chart.title}</h2>
      {chart.readings.map((at) => {
        const reading = sweep.readings[at];
        return reading ? <div key={at}>{draw(reading)}</div> : null;
      })}
    </section>
  );
}

function Winners({ sweep, reading }: Props) {
  const sentences = winners(sweep, reading);
  if (sentences.length === 0) return null;
  return (
    <>
      {sentences.map((sentence) => (
        <p key={sentence}>
          <b>{sentence}</b>
        </p>
      ))}
      {sweep.points.length > 1 ? (
        <details>
          <summary>The best variant at each point</summary>
          <div className="scroll" tabIndex={0} role="region" aria-label={`The best variant at each point, ${reading.name}`}>
            <table>
              <thead>
                <tr>
                  <th>Point</th>
                  <th>Best</th>
                  <th>Next best</th>
                  <th>Difference</th>
                  <th>Confidence</th>
                </tr>
              </thead>
              <tbody>
                {reading.best.map((best) => (
                  <tr key={best.point}>
                    <td>{pointName(sweep, best.point)}</td>
                    <td>{variantName(sweep, best.variant)}</td>
                    <td>{variantName(sweep, best.runner_up)}</td>
                    <td>{best.difference}</td>
                    <td>{best.confidence}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      ) : null}
    </>
  );
}

/** More bars cannot be told apart. */
const BARS = 60;

function Bars({ sweep, reading }: Props) {
  const unit = shownUnit(reading);
  const bars = barsOf(sweep, reading);
  const title = `${reading.name} of each point`;
  const note = bars.length > BARS ? `the first ${BARS} of ${bars.length} bars; the table has all` : "a dot for each seed, whiskers from the least to the greatest";
  const rows = reading.cells.map((cell) => [pointName(sweep, cell.point), variantName(sweep, cell.variant), cell.value ?? null, cell.least ?? null, cell.greatest ?? null, cell.seeds.map((seed, at) => `${seed}: ${cell.values[at]}`).join(", ")]);
  return (
    <Plot
      title={title}
      note={note}
      inputs={[sweep, reading]}
      draw={(width, theme) => barChart({ title, bars: bars.slice(0, BARS), value: { label: headed(reading, unit) } }, width, theme)}
      numbers={{ columns: ["point", "variant", `${reading.statistic} (${reading.shown_unit})`, "least", "greatest", "each seed"], rows }}
    />
  );
}

function AxisLines({ sweep, reading, place }: Props & { place: number }) {
  const axis = sweep.axes[place];
  const lines = linesOf(sweep, reading, place);
  if (!axis || !lines) return null;
  const unit = shownUnit(reading);
  const title = `${reading.name} over ${labelOf(axis)}`;
  const { series, log, ticks } = lines;
  const values = series.flatMap((one) => [...one.points.map((point) => point[1]), ...(one.spread ?? []).flatMap(([, least, most]) => [least, most])]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  // What grows with the axis by factors is a straight line only where both are logarithmic.
  const both = log && least > 0 && most > 8 * least;
  const texts = new Map(ticks);
  const [first, last] = [ticks[0]?.[0] ?? 0, ticks.at(-1)?.[0] ?? 1];
  // Whiskers at the ends are not cut.
  const room = log ? { low: first / 1.08, high: last * 1.08 } : { low: first - (last - first) * 0.03, high: last + (last - first) * 0.03 };
  const across = { label: labelOf(axis), log, ...room, format: (value: number) => texts.get(value) ?? plain(value), ...(ticks.length <= 12 ? { values: ticks.map(([value]) => value) } : { unit: axis.unit }) };
  return (
    <Plot
      title={title}
      note={lines.overPoints ? "median over all else, whiskers from the least to the greatest" : "whiskers from the least to the greatest of the seeds"}
      inputs={[sweep, reading]}
      axis={axis.path}
      draw={(width, theme, span) => lineChart({ title, series, span, x: across, y: { label: headed(reading, unit), log: both, ...(both ? {} : { low: Math.min(0, least) }) } }, width, 330, theme)}
      numbers={{ columns: ["line", axis.path, headed(reading, unit)], rows: series.flatMap((one) => one.points.map(([x, y]) => [one.name, texts.get(x) ?? x, y])) }}
    />
  );
}

/** More lines cover each other. */
const LINES = 1500;

function AllAxes({ sweep, reading }: Props) {
  const axes = [
    ...(sweep.variants.length > 1 ? [{ name: "variant", words: sweep.variants }] : []),
    ...sweep.axes.map((axis) => ({ name: labelOf(axis), words: axis.values })),
  ];
  if (sweep.axes.length < 2) return null;
  const unit = shownUnit(reading);
  const done = reading.cells.filter((cell) => typeof cell.value === "number");
  const better = (a: number, b: number) => (reading.more_is_better ? b - a : a - b);
  const best = [...done].sort((a, b) => better(a.value ?? 0, b.value ?? 0));
  const words = (cell: Reading["cells"][number]) => [...(sweep.variants.length > 1 ? [variantName(sweep, cell.variant)] : []), ...(sweep.points[cell.point] ?? [])];
  // The best are drawn over the others.
  const lines = best.slice(0, LINES).reverse().map((cell) => ({
    name: words(cell).join(", "),
    values: [...words(cell).map((word, at) => axes[at]?.words.indexOf(word) ?? 0), (cell.value ?? 0) / unit.size],
  }));
  const title = `${reading.name} over all axes`;
  return (
    <Plot
      title={title}
      note={`a line for each variant and point${best.length > LINES ? `; the ${plain(best.length - LINES)} worst are left out` : ""}`}
      inputs={[sweep, reading]}
      draw={(width, theme) => parallel({ title, axes: [...axes, { name: reading.name, unit: unit.name }], lines, coloured: axes.length }, width, 320, theme)}
      numbers={{ columns: [...axes.map((axis) => axis.name), headed(reading, unit)], rows: best.map((cell) => [...words(cell), (cell.value ?? 0) / unit.size]) }}
    />
  );
}
