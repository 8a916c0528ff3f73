import assert from "node:assert/strict";
import { it } from "node:test";
import type { StudyCase } from "../api/types";
import { chartsOf } from "./study-charts";

const row = (bar: string, measured: number | null, gate: string): StudyCase => ({
  case: "16MiB", bar, metric: "time_ms", variant: "v", published: 2, published_text: "2", measured, measured_text: null, statistic: null,
  least: 1, greatest: 3, seeds: 2, band_low: 1.5, band_high: 2.5, band_text: "1.5–2.5", gate, origin: "published", verdict: "match", deviation_percent: null,
});
const cases = [row("A", 2, "required"), row("B", null, "open"), row("C", 0, "info")];

it("draws the charts that a study names, a bar in the same colour in all of them", () => {
  const chart = { title: "first", metrics: ["time_ms"], bars: [], axis: "ms" };
  const [first, second] = chartsOf({ cases, charts: [chart, { ...chart, title: "second", bars: ["C"] }] });
  assert.deepEqual(first?.bars.map((bar) => [bar.group, bar.name, bar.value, bar.colour]), [["16MiB", "A", 2, 0], ["16MiB", "B", null, 1], ["16MiB", "C", 0, 2]]);
  assert.equal(first?.bars[0]?.say, "16MiB, A\ntime (ms)\nmeasured 2, 1 to 3 over 2 seeds\npublished 2\nband 1.5–2.5: match");
  assert.deepEqual(second?.bars.map((bar) => [bar.name, bar.colour]), [["C", 2]]);
});

it("draws judged rows over their published values where no chart is named", () => {
  const [chart] = chartsOf({ cases, charts: [] });
  assert.equal(chart?.title, "Measured over published");
  assert.deepEqual(chart?.bars[0] && [chart.bars[0].value, chart.bars[0].published, chart.bars[0].band, chart.bars[0].low], [100, 100, [75, 125], 50]);
  assert.deepEqual(chartsOf({ cases: [row("C", 1, "info")], charts: [] }), []);
});
