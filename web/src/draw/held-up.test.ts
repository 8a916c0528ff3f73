import assert from "node:assert/strict";
import { it } from "node:test";
import { numbersOf } from "../pictures/spec";
import { chainPicture } from "./chain";
import { type Part, partsPicture, shares } from "./parts";
import { LIGHT } from "./theme";

const parts: Part[] = [
  ["waiting", 0, 4],
  ["alone", 750, 7],
  ["lost", 250, 1],
];

it("gives each part its share, and none where there is no time", () => {
  assert.deepEqual(shares(parts), [0, 0.75, 0.25]);
  assert.deepEqual(shares([["alone", 0, 7]]), [0]);
  assert.deepEqual(numbersOf({ kind: "parts", title: "", unit: "ns", parts }).rows[1], ["alone", 750, 75]);
});

it("says the part under the pointer, with a legend for those who have no text beside it", () => {
  const of = { title: "Parts", unit: "ns", parts };
  const drawing = partsPicture(of, 400, LIGHT, false);
  const at = (x: number) => drawing.hover?.(x, 10)?.text.replaceAll("\u00a0", " ");
  assert.deepEqual([0, 299, 301, 400].map(at), ["alone: 750 ns, 75 %", "alone: 750 ns, 75 %", "lost: 250 ns, 25 %", "lost: 250 ns, 25 %"]);
  assert.equal(drawing.svg.includes("<text"), false);
  assert.match(partsPicture(of, 400, LIGHT, true).svg, /lost: 250.ns, 25 %/);
});

it("draws the chunks of a chain one after the other", () => {
  const columns: [string, string][] = [["lost on the way", "ns"]];
  const of = { title: "Chain", label: "Time", to_ns: 100, shade: "lost", names: ["a", "b"], columns, bars: [[0, 50, 0, 0], [50, 100, 1, 25]] };
  const drawing = chainPicture(of, 416, LIGHT);
  const at = (x: number) => drawing.hover?.(x, 40)?.text.replaceAll("\u00a0", " ");
  assert.deepEqual([100, 300].map(at), ["a\nlost on the way 0 ns", "b\nlost on the way 25 ns"]);
  assert.deepEqual(numbersOf({ kind: "chain", ...of }).rows[1], ["b", 50, 100, 1, 25]);
});
