import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { design, row, swept } from "../testing/rows";
import { trialColumns } from "./trial-columns";
import { plotOf } from "./trial-plot";

const columns = trialColumns([design(1)]);
const column = (key: string) => columns.find((one) => one.key === key) ?? assert.fail(key);
const trials = [swept(1, 1, 0, 0, 10), swept(2, 1, 0, 0, 30), swept(3, 1, 0, 1, 5), swept(4, 1, 1, 0, 7), swept(5, 1, 1, 1, null), row(6, "alone")];

describe("plots over trials", () => {
  it("have the median of each value of the axis, a line for each word, and no trial without a value", () => {
    const { series, marks, left } = plotOf(trials, column("set:fabric.uplink_rate"), column("read:p99 FCT (ns)"), column("variant"));
    assert.deepEqual(series.map((one) => [one.name, one.points, one.spread]), [
      ["ecmp", [[1e11, 20], [4e11, 5]], [[1e11, 10, 30]]],
      ["spray", [[1e11, 7]], []],
    ]);
    assert.deepEqual(marks.map((mark) => mark.trials), [2, 1, 1]);
    assert.equal(left, 0);
  });

  it("have bars over words, those of a word beside each other", () => {
    const { bars, series } = plotOf(trials, column("set:fabric.kind"), column("read:p99 FCT (ns)"), column("variant"));
    assert.deepEqual(series, []);
    assert.deepEqual(bars.map((bar) => [bar.group, bar.name, bar.value]), [["fat-tree", "ecmp", 5], ["leaf-spine", "ecmp", 20], ["leaf-spine", "spray", 7]]);
  });

  it("leave out lines that cannot be told apart, and say how many", () => {
    const many = Array.from({ length: 20 }, (_, at) => row(at + 1, `trial ${at}`, { hosts: at, jct_ns: at }));
    const { series, left } = plotOf(many, column("hosts"), column("jct_ns"), column("name"));
    assert.deepEqual([series.length, left], [12, 8]);
  });
});
