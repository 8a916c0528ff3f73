import assert from "node:assert/strict";
import { it } from "node:test";
import { keyed } from "./keys";
import type { Drawing } from "./svg";

it("leaves no stop out where several are at one place", () => {
  const stops = ["a", "b", "c"].map((text) => ({ x: 5, y: 5, text }));
  const drawing: Drawing = { svg: "", width: 9, height: 9, inner: { left: 0, top: 0, right: 9, bottom: 9 }, stops: () => stops };
  let at = keyed(drawing, { x: 0, y: 0 }, "Home", false);
  const said = [at?.text];
  for (let step = 0; step < 2 && at; step += 1) {
    at = keyed(drawing, at, "ArrowRight", false);
    said.push(at?.text);
  }
  assert.deepEqual(said, ["a", "b", "c"]);
});

it("moves through a plot by keys and stays within it", () => {
  const drawing: Drawing = { svg: "", width: 130, height: 60, inner: { left: 0, top: 10, right: 120, bottom: 50 } };
  assert.deepEqual(keyed(drawing, { x: 5, y: 20 }, "ArrowRight", false), { x: 6, y: 20 });
  assert.deepEqual(keyed(drawing, { x: 5, y: 20 }, "ArrowRight", true), { x: 11, y: 20 });
  assert.deepEqual(keyed(drawing, { x: 0, y: 0 }, "ArrowLeft", false), { x: 0, y: 11 });
  assert.deepEqual(keyed(drawing, { x: 5, y: 48 }, "ArrowDown", false), { x: 5, y: 49 });
  assert.equal(keyed(drawing, { x: 5, y: 48 }, "Tab", false), undefined);
});
