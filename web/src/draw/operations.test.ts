import assert from "node:assert/strict";
import { it } from "node:test";
import { numbersOf } from "../pictures/spec";
import { type Operations, operationsPicture, sayOperation } from "./operations";
import { DARK, LIGHT, pale } from "./theme";

const lanes = [
  { rank: 0, name: "compute", colour: 0 },
  { rank: 0, name: "PP", colour: 4 },
  { rank: 9, name: "receives", colour: 3 },
];
const of: Operations = {
  title: "Operations",
  label: "Time",
  to_ns: 1000,
  lanes,
  legend: [
    [0, "compute"],
    [4, "pipeline parallelism (PP)"],
    [3, "receives"],
  ],
  kinds: ["compute", "send", "receive"],
  bars: [
    [0, 0, 400, 1, 0, 0, 12, null, 0, 1],
    [0, 410, 10, 7, 0],
    [1, 400, 500, 1, 0, 1, 13, 9, 65536, 0],
    [2, 100, 800, 1, 1, 2, 4, 0, 65536, 0],
  ],
};
const said = of.bars.map((bar) => sayOperation(of, bar).replaceAll("\u00a0", " "));

it("says of an operation what it is, with whom, how large and when", () => {
  assert.deepEqual(said, [
    "rank 0, compute 12\n0 ns – 400 ns, 400 ns\non the critical path",
    "rank 0, compute: 7 operations\n410 ns – 420 ns",
    "rank 0, send 13 to rank 9\n64 KiB\n400 ns – 900 ns, 500 ns",
    "rank 9, receive 4 from rank 0\n64 KiB\n100 ns – 900 ns, 800 ns",
  ]);
});

it("finds each bar where it is drawn, and nothing between ranks", () => {
  const drawing = operationsPicture(of, 800, LIGHT);
  const { left, right, top, bottom } = drawing.inner;
  const at = (ns: number, y: number) => drawing.hover?.(left + (ns / of.to_ns) * (right - left), y)?.text.replaceAll("\u00a0", " ");
  const rows = Array.from({ length: bottom - top }, (_, row) => at(700, top + row));
  assert.deepEqual([...new Set(rows)], [undefined, said[2], said[3]]);
  // From the second lane over the gap to the third.
  const between = rows.slice(rows.indexOf(said[2]), rows.lastIndexOf(said[3]));
  assert.ok(between.includes(undefined));
  assert.equal(at(200, top + 6), said[0]);
  assert.equal(at(415, top + 6), said[1]);
});

it("names ranks once, lanes and colours, and draws what waits paler", () => {
  for (const theme of [LIGHT, DARK]) {
    const { svg } = operationsPicture(of, 800, theme);
    assert.equal(svg.match(/>rank 0</g)?.length, 1);
    for (const word of ["compute", "PP", "pipeline parallelism (PP)", "rank 9"]) assert.ok(svg.includes(`>${word}<`), word);
    assert.ok(svg.includes(`fill="${pale(theme, theme.series[3] ?? "")}"`));
  }
});

it("has every bar in its table", () => {
  const { columns, rows } = numbersOf({ kind: "operations", ...of });
  assert.ok(rows.every((row) => row.length === columns.length));
  assert.deepEqual(rows[1], [0, "compute", 410, 10, 7, null, null, null, null, null]);
  assert.deepEqual(rows[2], [0, "PP", 400, 500, 1, "send", 13, 9, 65536, "no"]);
});
