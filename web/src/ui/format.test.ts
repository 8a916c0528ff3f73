import assert from "node:assert/strict";
import { it } from "node:test";
import { row } from "../testing/rows";
import { count, hundredths, jct, jctOf, tabTitle } from "./format";

it("names the job of a completion time", () => {
  assert.equal(jctOf({ jct_job: "train", jobs: 1 }), "of train");
  assert.equal(jctOf({ jct_job: "long", jobs: 2 }), "of long, the longest job");
  assert.equal(jctOf({ jct_job: null, jobs: 2 }), undefined);
});

it("shows times in the unit that fits", () => {
  assert.equal(jct(row(1, "a", { jct_ns: 15_886.4 })), "15.886\u00a0µs");
  assert.equal(jct(row(1, "a", { jct_ns: 5_062_000 })), "5.062\u00a0ms");
  assert.equal(jct(row(1, "a")), "—");
});

it("counts", () => {
  assert.deepEqual([count(1, "seed"), count(1200, "seed"), hundredths(null), hundredths(99.2)], ["1 seed", "1,200 seeds", "—", "99.20"]);
});

it("names a browser tab by its part and its trial", () => {
  assert.equal(tabTitle(["CDF and tail", "ecmp"]), "CDF and tail · ecmp · Tenter");
  assert.equal(tabTitle(["Compare", "a", "", "b"]), "Compare · a · b · Tenter");
});
