import assert from "node:assert/strict";
import { it } from "node:test";
import { inDescription } from "./sweep-problems";

const TEXT = "name: bad\nseeds: 3 # spinez: of old\naxes: {fabric.spinez: [2, 4]}\n";
const one = (message: string, place: string, text = TEXT) => {
  const [line = 0, column = 0] = place.split(":").slice(1).map(Number);
  const found = inDescription({ message: "the scenario has a problem", problems: [{ message, place, line, column, help: "do this" } as object as { message: string }] }, text);
  return found.problems?.[0];
};

it("places what an axis sets at the axis", () => {
  const found = one("unknown key `spinez` in `fabric`", "--set:1:8");
  assert.deepEqual([found?.line, found?.column, found?.help], [3, 15, "do this"]);
  assert.deepEqual(one("`fabric.spinez` must be a whole number, not `x`", "--set:1:15")?.line, 3);
  assert.deepEqual(one("unknown key `b` in `x[0]`", "--set:1:2", 'axes:\n  "x[0].b": [1]\n')?.line, 2);
});

it("names no line where it is not known", () => {
  assert.equal(one("`fabric` lacks `kind`", "--set:1:1")?.line, undefined);
  assert.equal(one("unknown key `spinez` in `fabric`", "--set:1:8", `${TEXT}variants: {a: {fabric.spinez: 3}}\n`)?.line, undefined);
});

it("keeps lines of the description, and says which are of the scenario", () => {
  assert.deepEqual(one("unknown key `nonsense`", "sweep:2:1")?.line, 2);
  const found = one("unknown key `kint` in `fabric`", "scenario:2:10");
  assert.equal(found?.line, undefined);
  assert.equal(found?.message, "unknown key `kint` in `fabric` (line 2 of the scenario)");
});
