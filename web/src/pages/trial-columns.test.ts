import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { design, row, swept } from "../testing/rows";
import { commonOf, firstColumns, isResult, middleOf, trialColumns, widthOfNames } from "./trial-columns";

const column = (columns: ReturnType<typeof trialColumns>, key: string) => {
  const found = columns.find((one) => one.key === key);
  assert.ok(found, key);
  return found;
};

describe("columns of trials", () => {
  it("have the settings and readings of sweeps, numbers in their base unit and as they were written", () => {
    const columns = trialColumns([design(1)]);
    const trial = swept(7, 1, 1, 1, 2500);
    const rate = column(columns, "set:fabric.uplink_rate");
    assert.deepEqual([rate.kind, rate.unit, rate.of(trial), rate.say(rate.of(trial))], ["number", "bit/s", 4e11, "400Gbps"]);
    const kind = column(columns, "set:fabric.kind");
    assert.deepEqual([kind.kind, kind.of(trial)], ["text", "fat-tree"]);
    assert.equal(column(columns, "variant").of(trial), "spray");
    const read = column(columns, "read:p99 FCT (ns)");
    assert.equal(read.say(read.of(trial)), "2.5\u00a0µs");
  });

  it("are shared by sweeps that vary the same, and empty for a trial without it", () => {
    const other = design(2, { axes: [{ path: "fabric.uplink_rate", label: "rate", values: ["800Gbps"], numbers: [8e11], unit: "bit/s", log: false }], points: [["800Gbps"]], readings: [{ name: "p99 FCT", unit: "" }] });
    const columns = trialColumns([design(1), other]);
    const rate = column(columns, "set:fabric.uplink_rate");
    assert.equal(columns.filter((one) => one.key.startsWith("set:fabric.uplink")).length, 1);
    assert.equal(rate.of(swept(1, 2, 0, 0, 5)), 8e11);
    assert.equal(rate.of(row(3, "alone")), undefined);
    assert.equal(column(columns, "set:fabric.kind").of(swept(1, 2, 0, 0, 5)), undefined);
    // A reading of the same name in another unit is another quantity.
    assert.equal(column(columns, "read:p99 FCT (ns)").of(swept(1, 2, 0, 0, 5)), undefined);
    assert.equal(column(columns, "read:p99 FCT").of(swept(1, 2, 0, 0, 5)), 5);
  });

  it("are texts where sweeps measure different things by one key", () => {
    const other = design(2, { axes: [{ path: "fabric.uplink_rate", label: "uplink_rate", values: ["half"], numbers: null, unit: "", log: false }], points: [["half"]] });
    const rate = column(trialColumns([design(1), other]), "set:fabric.uplink_rate");
    assert.deepEqual([rate.kind, rate.of(swept(1, 1, 0, 0, 1)), rate.of(swept(1, 2, 0, 0, 1))], ["text", "100Gbps", "half"]);
  });

  it("of a group have a median of results, and of settings what all trials have in common", () => {
    const columns = trialColumns([design(1)]);
    assert.deepEqual(columns.filter(isResult).map((one) => one.key), ["jct_ns", "ideal_percent", "algbw_gbytes_per_s", "busbw_gbytes_per_s", "seconds", "read:p99 FCT (ns)"]);
    assert.equal(middleOf([3, undefined, 1, 8]), 3);
    assert.equal(middleOf([undefined]), undefined);
    assert.equal(commonOf([2, 2]), 2);
    assert.equal(commonOf([2, undefined]), undefined);
  });

  it("are at first those in which trials of sweeps differ", () => {
    const columns = trialColumns([design(1)]);
    const trials = [swept(1, 1, 0, 0, 1), swept(2, 1, 1, 1, 2)];
    assert.deepEqual(firstColumns(columns, trials).slice(2, 5), ["variant", "set:fabric.uplink_rate", "set:fabric.kind"]);
    assert.ok(firstColumns(columns, trials).includes("read:p99 FCT (ns)"));
    assert.ok(!firstColumns(columns, [...trials, row(3, "alone")]).includes("variant"));
  });
});

it("gives names of trials the room that they need, and no more than a window has", () => {
  const named = (name: string) => [row(1, name)];
  assert.ok(widthOfNames(named("uplinks: spray, uplink_rate=400Gbps, seed 3"), 1280) >= 320);
  assert.equal(widthOfNames(named("ring"), 1280), 160);
  assert.equal(widthOfNames(named("x".repeat(200)), 1280), 400);
  assert.equal(widthOfNames(named("x".repeat(200)), 390), 234);
});
