import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FILTERS, testOf } from "./trial-filters";

const time = { kind: "number", unit: "ns", say: String } as const;
const size = { kind: "number", unit: "bytes", say: String } as const;
const rate = { kind: "number", unit: "bit/s", say: String } as const;
const word = { kind: "text", unit: "", say: String } as const;

describe("filters of trials", () => {
  it("compare numbers with their units", () => {
    const cases = [
      [time, "< 10us", 9_999, 10_000],
      [time, "<=10 µs", 10_000, 10_001],
      [time, "1us..2us", 1500, 2500],
      [size, ">= 1MiB", 2 ** 20, 2 ** 20 - 1],
      [size, "4KiB", 4096, 4097],
      [rate, "> 100Gbps", 2e11, 1e11],
      [time, "!= 5", 6, 5],
    ] as const;
    for (const [column, condition, inside, outside] of cases) {
      const test = testOf(column, condition);
      assert.ok(test, condition);
      assert.deepEqual([test(inside), test(outside), test(undefined)], [true, false, false], condition);
    }
  });

  it("find words in texts, whole or in part", () => {
    assert.deepEqual(["spray", "random-Spray", "ecmp"].map((one) => testOf(word, "spray")?.(one)), [true, true, false]);
    assert.deepEqual(["spray", "random-spray"].map((one) => testOf(word, "= spray")?.(one)), [true, false]);
    assert.equal(testOf(word, "!= spray")?.("ecmp"), true);
  });

  it("say nothing where they cannot be read", () => {
    for (const condition of ["", "<", "< many", "5 apples", "1..x", "< 1..2"]) assert.equal(testOf(time, condition), undefined, condition);
    assert.equal(testOf(word, "< spray"), undefined);
  });

  it("take no unit of another kind", () => {
    for (const condition of ["< 10MB", "> 1Gbps", "10us..2MiB"]) assert.equal(testOf(time, condition), undefined, condition);
  });

  it("are read from the address as they were written", () => {
    const filters = [
      { key: "set:a~b|c%", condition: "1us..2us" },
      { key: "variant", condition: "= 50%|~" },
    ];
    assert.deepEqual(FILTERS.read(FILTERS.write(filters) ?? ""), filters);
    assert.deepEqual(FILTERS.read("nonsense"), []);
    assert.deepEqual(FILTERS.read("name~100%"), [{ key: "name", condition: "100%" }]);
    assert.equal(FILTERS.write([]), undefined);
  });
});
