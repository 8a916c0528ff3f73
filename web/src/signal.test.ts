import assert from "node:assert/strict";
import { it } from "node:test";
import { signal } from "./signal";

it("tells those who follow, until they stop", () => {
  const heard: string[] = [];
  const one = signal();
  const stop = one.subscribe(() => heard.push("a"));
  one.subscribe(() => heard.push("b"));
  one.notify();
  stop();
  one.notify();
  signal().notify();
  assert.deepEqual(heard, ["a", "b", "b"]);
});
