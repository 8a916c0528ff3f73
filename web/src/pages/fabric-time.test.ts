import assert from "node:assert/strict";
import { it } from "node:test";
import { instantAt } from "./fabric-time";

it("finds the instant that an address names, or the one before it", () => {
  const times = [100, 200, 300];
  assert.equal(instantAt(times, 200), 1);
  assert.equal(instantAt(times, 299.9), 1);
  assert.equal(instantAt(times, 5), 0);
  assert.equal(instantAt(times, 1e9), 2);
  assert.equal(instantAt(times, null), null);
  assert.equal(instantAt([], 5), null);
});
