import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scale } from "./axes";
import { lineChart } from "./lines";
import { brushed, zoomed } from "./span";
import { LIGHT } from "./theme";

const ends = { left: 100, right: 500 };
const linear = scale({ label: "Time", unit: "ns" }, 0, 400, 100, 500);
const log = scale({ label: "Size", log: true }, 1, 10_000, 100, 500);
const whole = { from: 0, to: 400 };

describe("stretches of an axis", () => {
  it("are what is brushed, whichever way, within the plot", () => {
    assert.deepEqual(brushed(linear, ends, 300, 200), { from: 100, to: 200 });
    assert.deepEqual(brushed(linear, ends, 50, 300), { from: 0, to: 200 });
    assert.equal(brushed(linear, ends, 300, 303), null);
    const found = brushed(log, ends, 200, 300);
    assert.ok(found && Math.abs(found.from - 10) < 1e-9 && Math.abs(found.to - 100) < 1e-9);
  });

  it("grow and shrink around the cursor, and end at the whole", () => {
    assert.deepEqual(zoomed(linear, ends, whole, 300, 0.5), { from: 100, to: 300 });
    assert.equal(zoomed(linear, ends, whole, 300, 2), null);
    const part = scale({ label: "Time", low: 100, high: 300 }, 0, 400, 100, 500);
    assert.deepEqual(zoomed(part, ends, whole, 100, 2), { from: 100, to: 400 });
  });

  it("are what a chart of lines shows, with its values to scale", () => {
    const points = Array.from({ length: 101 }, (_, at) => [at, at === 50 ? 1000 : 1] as const);
    const chart = { title: "queue", series: [{ name: "a", points }], x: { label: "Time", unit: "ns" }, y: { label: "Bytes" } };
    const all = lineChart(chart, 600, 300, LIGHT);
    const part = lineChart({ ...chart, span: { from: 60, to: 80 } }, 600, 300, LIGHT);
    assert.ok(all.svg.includes(">1,000<") && !part.svg.includes(">1,000<"));
    assert.ok(part.across);
    assert.ok(Math.abs(part.across.at(60) - part.inner.left) < 0.01);
    assert.ok(Math.abs(part.across.back(part.inner.right) - 80) < 0.01);
  });
});
