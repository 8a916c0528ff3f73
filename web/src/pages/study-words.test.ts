import assert from "node:assert/strict";
import { it } from "node:test";
import { caseName, metricName, metrics, requiredWords } from "./study-words";

it("says that all match only where something is required", () => {
  assert.deepEqual(requiredWords({ required: 0, required_matches: 0 }), { text: "none required", state: "" });
  assert.deepEqual(requiredWords({ required: 3, required_matches: 3 }), { text: "all 3 match", state: "done" });
  assert.deepEqual(requiredWords({ required: 1, required_matches: 1 }), { text: "matches", state: "done" });
  assert.deepEqual(requiredWords({ required: 3, required_matches: 1 }), { text: "2 of 3 miss", state: "failed" });
});

it("names metrics and cases", () => {
  assert.equal(metricName("completion_time_ms"), "completion time (ms)");
  assert.equal(metricName("fct_max"), "fct max");
  assert.equal(metricName("bytes"), "bytes");
  assert.equal(caseName({ case: "8 MiB", bar: "ECMP" }), "8 MiB, ECMP");
  assert.equal(caseName({ case: "8 MiB", bar: null }), "8 MiB");
});

it("has every metric", () => {
  const names = ["a", "b", "a", "c", "d", "e"];
  assert.deepEqual(metrics(names.map((metric) => ({ metric }))), ["a", "b", "c", "d", "e"]);
});
