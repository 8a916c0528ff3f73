import assert from "node:assert/strict";
import { it } from "node:test";
import { cdfChart, type Steps } from "./cdf";

const points: Steps = [
  [10, 0.5],
  [20, 0.75],
  [40, 1],
];

it("begins a distribution at none, and ends a tail before the greatest", () => {
  const of = (tail: boolean) => cdfChart("FCT", "Time", [{ name: "ring", points }], tail);
  assert.deepEqual(of(false).series[0]?.points, [[10, 0], ...points]);
  assert.deepEqual(of(true).series[0]?.points, [
    [10, 0.5],
    [20, 0.25],
  ]);
  assert.equal(of(true).y.format?.(0.0001), "0.01 %");
  assert.equal(of(false).y.format?.(0.99999), "99.999 %");
  assert.deepEqual(cdfChart("FCT", "Time", [{ name: "none", points: [] }], false).series[0]?.points, []);
});
