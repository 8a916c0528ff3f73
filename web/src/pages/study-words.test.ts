import assert from "node:assert/strict";
import { it } from "node:test";
import { caseName, metricName, outcome } from "./study-words";

it("says how a study came out", () => {
  const study = { rows: 5, required: 0, required_matches: 0, not_judged: 0, quick: false, left_out: [] as string[] };
  assert.deepEqual(outcome(study), { text: "nothing required", state: "" });
  assert.deepEqual(outcome({ ...study, required: 3, required_matches: 3, left_out: ["b"] }), { text: "holds; left out: b", state: "done" });
  assert.deepEqual(outcome({ ...study, required: 3, required_matches: 1 }), { text: "2 of 3 required missed", state: "failed" });
  assert.deepEqual(outcome({ ...study, not_judged: 5, quick: true }), { text: "not judged: quick form", state: "" });
  assert.deepEqual(outcome({ ...study, rows: 0 }), { text: "not run: no quick form", state: "" });
});

it("names metrics and cases", () => {
  assert.equal(metricName("completion_time_ms"), "completion time (ms)");
  assert.equal(metricName("fct_max"), "fct max");
  assert.equal(metricName("bytes"), "bytes");
  assert.equal(caseName({ case: "8 MiB", bar: "ECMP" }), "8 MiB, ECMP");
  assert.equal(caseName({ case: "8 MiB", bar: null }), "8 MiB");
});
