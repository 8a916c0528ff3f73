import assert from "node:assert/strict";
import { it } from "node:test";
import { arranged, clicked } from "./sorting";

const rows = [["2 MiB", "b"], ["all", "a"], ["512 KiB", "c"], ["1,024 B", "d"]];
const first = (sorted: string[][]) => sorted.map((row) => row[0]);

it("orders numbers by their units, and what has none last", () => {
  const up = clicked(undefined, 0);
  assert.deepEqual(first(arranged(rows, up, "")), ["1,024 B", "512 KiB", "2 MiB", "all"]);
  const down = clicked(up, 0);
  assert.deepEqual(first(arranged(rows, down, "")), ["2 MiB", "512 KiB", "1,024 B", "all"]);
  assert.equal(clicked(down, 0), undefined);
  assert.deepEqual(clicked(down, 1), { column: 1, direction: 1 });
  assert.deepEqual(arranged(rows, { column: 1, direction: -1 }, "").map((row) => row[1]), ["d", "c", "b", "a"]);
});

it("keeps the rows with a word", () => {
  assert.deepEqual(first(arranged(rows, undefined, " KIB ")), ["512 KiB"]);
  assert.equal(arranged(rows, undefined, ""), rows);
});
