import assert from "node:assert/strict";
import { it } from "node:test";
import { row } from "../testing/rows";
import { runLists, sideBySide } from "./run-lists";

const ids = (lists: ReturnType<typeof runLists>) => ({
  shown: lists.shown,
  running: lists.running.map((one) => one.id),
  waiting: lists.waiting.map((one) => one.id),
  ended: lists.ended.map((one) => one.id),
});

const running = [row(3, "c", { state: "running" }), row(4, "d", { state: "running" })];
const waiting = [row(5, "e", { state: "queued" }), row(6, "f", { state: "queued" })];
const ended = [row(2, "b"), row(1, "a", { state: "failed" })];

it("lists the other running trial as running", () => {
  assert.deepEqual(ids(runLists({ running, waiting, ended }, undefined)), { shown: "3", running: [4], waiting: [5, 6], ended: [2, 1] });
  assert.deepEqual(ids(runLists({ running, waiting, ended }, "4")), { shown: "4", running: [3], waiting: [5, 6], ended: [2, 1] });
});

it("shows the next that waits where none runs, and nothing where none waits", () => {
  assert.equal(runLists({ running: [], waiting, ended }, undefined).shown, "5");
  assert.equal(runLists({ running: [], waiting: [], ended }, undefined).shown, undefined);
});

it("lists each trial once, and none that has not ended as ended", () => {
  const late = [row(5, "e", { state: "running" }), ...running];
  const lists = runLists({ running: late, waiting, ended: [row(7, "g", { state: "queued" }), row(3, "c"), ...ended] }, undefined);
  assert.deepEqual(ids(lists), { shown: "5", running: [3, 4], waiting: [6], ended: [2, 1] });
});

it("says how many run at once", () => {
  assert.match(sideBySide(1), /^Trials run one after the other/);
  assert.match(sideBySide(2), /^Up to 2 trials run side by side/);
  assert.doesNotMatch(sideBySide(undefined), /one after the other|side by side/);
});
