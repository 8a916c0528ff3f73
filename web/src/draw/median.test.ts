import assert from "node:assert/strict";
import { it } from "node:test";
import { median } from "./median";

it("is the value in the middle, or the mean of the two there", () => {
  assert.equal(median([1, 2, 9]), 2);
  assert.equal(median([1, 2, 4, 9]), 3);
  assert.equal(median([5]), 5);
});
