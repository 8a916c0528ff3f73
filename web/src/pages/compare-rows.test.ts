import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { comparison, type Placed, row } from "../testing/rows";
import { alike, comparedLines, signed } from "./compare-rows";

const trials = [row(1, "ecmp"), row(26, "perm-1024"), row(2, "spray")];
const of = (trial: number, group: number, job_name: string, collective: string | null, time_ns: number | null, more = {}): Placed => ({
  trial,
  group,
  cells: { job_name, collective, size_bytes: collective ? 2 ** 20 : null, time_ns, ...more },
});

/** A random number generator whose numbers are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("a comparison", () => {
  it("keeps numbers under their trial where jobs are unlike", () => {
    const data = comparison(trials, [
      of(1, 0, "a2a", "all-to-all", 737_000),
      of(2, 0, "a2a", "all-to-all", 697_830, { time_difference_percent: -5.35 }),
      of(26, 1, "perm", "permutation", 60_000),
    ]);
    const lines = comparedLines(data);
    assert.deepEqual(lines.map((line) => line.what), ["a2a: all-to-all, 1\u00a0MiB", "perm: permutation, 1\u00a0MiB"]);
    assert.deepEqual(lines[0]?.cells, [{ text: "737\u00a0µs", difference: null }, null, { text: "697.83\u00a0µs", difference: -5.35 }]);
    assert.deepEqual(lines[1]?.cells, [null, { text: "60\u00a0µs", difference: null }, null]);
  });

  it("follows the trials, not the order of rows", () => {
    const data = comparison([trials[1] ?? row(0, ""), trials[0] ?? row(0, "")], [of(1, 0, "a2a", "all-to-all", 737_000), of(26, 1, "perm", "permutation", 60_000)]);
    assert.deepEqual(comparedLines(data).map((line) => line.cells.map((cell) => cell?.text)), [
      [undefined, "737\u00a0µs"],
      ["60\u00a0µs", undefined],
    ]);
  });

  it("says which of equal collectives, and leaves out names and sizes that differ", () => {
    const data = comparison(trials, [
      of(1, 0, "x", "all-reduce", 1_000),
      of(2, 0, "y", "all-reduce", 2_000),
      of(1, 1, "x", "all-reduce", 3_000),
      of(2, 1, "y", "all-reduce", 4_000),
      of(1, 2, "x", "flows", 5_000, { size_bytes: 10 }),
      of(2, 2, "y", "flows", 6_000, { size_bytes: 11 }),
      of(1, 4, "z", null, 7_000),
      { trial: 1, group: 3, cells: { job_name: "", collective: null, paused_ns: 5 } },
      { trial: 26, group: 3, cells: { job_name: "", collective: null, paused_ns: 0 } },
    ]);
    const lines = comparedLines(data);
    assert.deepEqual(lines.map((line) => line.what), ["job: all-reduce, 1\u00a0MiB", "job: all-reduce, 1\u00a0MiB, no. 2", "job: flows", "z: whole job", "whole trial"]);
    // A zero stands beside what is not zero; a line of zeros is none.
    assert.deepEqual(lines[4]?.cells, [{ text: "5\u00a0ns", difference: null }, { text: "0\u00a0ns", difference: null }, null]);
  });

  it("has each number of the answer once, under its trial, whatever is compared", () => {
    const next = random(7);
    for (let turn = 0; turn < 200; turn += 1) {
      const some = Array.from({ length: 2 + Math.floor(next() * 5) }, (_, at) => row(100 - at * 7, `t${at % 2}`));
      const placed = Array.from({ length: 6 }, (_, group) =>
        some.filter(() => next() < 0.6).map((trial) => of(trial.id, group, `j${group % 2}`, group > 3 ? null : "all-to-all", trial.id * 1000 + group + 1)),
      ).flat();
      const lines = comparedLines(comparison(some, placed));
      const found = lines.flatMap((line) => line.cells.map((cell, place) => cell && `${some[place]?.id} ${line.group} ${cell.text}`).filter(Boolean));
      const wanted = placed.map((one) => `${one.trial} ${one.group} ${new Intl.NumberFormat("en", { maximumSignificantDigits: 5 }).format(Number(one.cells["time_ns"]) / 1e3)}\u00a0µs`);
      assert.deepEqual(found.sort(), wanted.sort());
    }
  });

  it("shows signs of differences", () => {
    assert.deepEqual([signed(-5.35), signed(0), signed(12.345)], ["−5.35 %", "±0 %", "+12.3 %"]);
  });
});

describe("trials that differ in their seed alone", () => {
  const settings = (path: string, values: (string | null)[]) => ({ path, values });
  it("are one by their configurations", () => {
    const four = [row(1, "a seed 1", { seed: "1" }), row(2, "a seed 2", { seed: "2" }), row(3, "a", { seed: "1" }), row(4, "a", { seed: "1" })];
    const data = { trials: four, config: [settings("seed", ["1", "2", "1", "1"]), settings("name", ["a", "a", "a", "b"]), settings("fabric.spines", ["2", "2", "2", "4"])] };
    const found = alike(data, four).map(({ name, rows, seeds }) => [name, rows.map((one) => one.id), seeds]);
    assert.deepEqual(found, [["a", [1, 2, 3], 2], ["a", [4], 1]]);
  });

  it("are not told by equal names", () => {
    const two = [row(1, "jct-2", { seed: "1" }), row(2, "jct-2", { seed: "1" })];
    const data = { trials: two, config: [settings("fabric.kind", ["leaf-spine", "single-switch"])] };
    assert.equal(alike(data, two).length, 2);
  });
});
