import assert from "node:assert/strict";
import { it } from "node:test";
import { fitting } from "./fitting";

it("finds the options that have all words, in any order", () => {
  const options = ["ecmp, 200 Gb/s", "spray, 200 Gb/s", "spray, 400 Gb/s"].map((label) => ({ value: label, label }));
  assert.deepEqual(fitting(options, "200 SPRAY").map((one) => one.label), ["spray, 200 Gb/s"]);
  assert.equal(fitting(options, " ").length, 3);
});
