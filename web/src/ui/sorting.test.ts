import assert from "node:assert/strict";
import { it } from "node:test";
import { arranged, clicked, ORDER } from "./sorting";

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

it("knows the units of small times and of rates", () => {
  const sorted = (cells: string[]) => first(arranged(cells.map((cell) => [cell]), { column: 0, direction: 1 }, ""));
  assert.deepEqual(sorted(["2 min", "1.2 ns", "512 ps", "3 ms"]), ["512 ps", "1.2 ns", "3 ms", "2 min"]);
  assert.deepEqual(sorted(["1 Gb/s", "100 Mb/s", "2 Tb/s"]), ["100 Mb/s", "1 Gb/s", "2 Tb/s"]);
  assert.deepEqual(sorted(["1.6Tbps", "800Gbps", "900Mbit/s"]), ["900Mbit/s", "800Gbps", "1.6Tbps"]);
  assert.deepEqual(sorted(["9 ms/step", "10 us/step"]), ["10 us/step", "9 ms/step"]);
});

it("keeps the rows with a word", () => {
  assert.deepEqual(first(arranged(rows, undefined, " KIB ")), ["512 KiB"]);
  assert.equal(arranged(rows, undefined, ""), rows);
});

it("writes an order into the address and reads it", () => {
  for (const sort of [{ column: 0, direction: 1 }, { column: 3, direction: -1 }] as const) assert.deepEqual(ORDER.read(ORDER.write(sort) ?? ""), sort);
  assert.equal(ORDER.write(undefined), undefined);
  assert.equal(ORDER.read("x"), undefined);
});
