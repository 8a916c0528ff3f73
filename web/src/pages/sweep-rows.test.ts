import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { grouped, matrixOf, median, type Rows, sides } from "./sweep-rows";

/** Every point of these axes for two variants and seeds 1 to 4, with values that say where they are from. */
function sweep(axes: [string, string[]][], value: (variant: string, point: string[], seed: number) => number | null): Rows {
  const points = axes.reduce<string[][]>((points, [, values]) => points.flatMap((point) => values.map((one) => [...point, one])), [[]]);
  const rows = points.flatMap((point) =>
    ["a", "b"].flatMap((variant) => [1, 2, 3, 4].map((seed) => ({ variant, point, seed, values: [value(variant, point, seed)] }))),
  );
  return {
    axes: axes.map(([path, values]) => ({ path, label: path.toUpperCase(), values })),
    variants: ["a", "b"],
    readings: [{ name: "time", unit: "ns", statistic: "median", more_is_better: false }],
    rows: rows as unknown as Rows["rows"],
  };
}

const cut = { reading: 0, variant: "a", down: 0, across: 1, at: ["", "", "y"] };

describe("the heat map of a sweep", () => {
  it("takes the mean of the two in the middle for the median", () => {
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(median([9, 1, 5]), 5);
  });

  it("has the median of the seeds of each pair, and the colours of all variants", () => {
    const two = sweep([["p", ["1", "2"]], ["q", ["10", "20", "40"]]], (variant, [p, q], seed) => Number(p) * Number(q) * (variant === "b" ? 1000 : 100) + seed ** 2);
    const made = matrixOf(two, cut);
    // Seeds add 1, 4, 9 and 16, whose median is 6.5; the greatest is 80,006.5 ns.
    assert.deepEqual(made?.values, [[1.0065, 2.0065, 4.0065], [2.0065, 4.0065, 8.0065]]);
    assert.deepEqual([made?.unit, made?.low, made?.high], ["µs", 1.0065, 80.0065]);
    assert.deepEqual([made?.down, made?.rows, made?.across, made?.columns], ["P", ["1", "2"], "Q", ["10", "20", "40"]]);
    assert.equal(made?.says[1]?.[2], "a\nP = 2\nQ = 40\n8.0065 µs, 8.001 to 8.016 over 4 seeds");
    const turned = matrixOf(two, { ...cut, variant: "b", down: 1, across: 0 });
    assert.deepEqual(turned?.values, [[10.0065, 20.0065], [20.0065, 40.0065], [40.0065, 80.0065]]);
    assert.equal(turned?.title, "time of b over Q and P");
  });

  it("shows one value of each further axis, and gaps where no trial has a value", () => {
    const three = sweep([["p", ["1", "2"]], ["q", ["3", "5"]], ["r", ["x", "y"]]], (_, [p, q, r]) => {
      if (r === "x") return 1e9;
      return p === "2" && q === "3" ? null : Number(p) * Number(q);
    });
    const made = matrixOf(three, cut);
    assert.deepEqual(made?.values, [[3, 5], [null, 10]]);
    assert.deepEqual([made?.low, made?.high, made?.says[1]?.[0]], [3, 10, ""]);
    assert.equal(matrixOf(three, { ...cut, at: ["", "", "z"] }), null);
    assert.equal(matrixOf(three, { ...cut, across: 0 }), null);
  });

  it("has sides of two values or more", () => {
    const many = Array.from({ length: 65 }, (_, at) => String(at));
    const rows = sweep([["p", ["1"]], ["q", ["3", "5"]], ["r", many]], () => 1);
    assert.deepEqual(sides(rows), [1]);
    assert.equal(grouped(rows, 0).length, 2 * 2 * 65);
  });
});
