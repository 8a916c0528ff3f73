import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { barsOf, linesOf, matrixOf, type Reading, type Rows, sides, winners } from "./sweep-rows";

type Value = { value: number; least?: number; greatest?: number; seeds?: number };

/** Every point of these axes for variants `a` and `b`, with values that say where they are from. */
function sweep(axes: [string, string[], number[]?][], value: (variant: string, point: string[]) => Value | null): { rows: Rows; reading: Reading } {
  const points = axes.reduce<string[][]>((points, [, values]) => points.flatMap((point) => values.map((one) => [...point, one])), [[]]);
  const variants = ["a", "b"];
  const cells = points.flatMap((point, at) =>
    variants.map((name, variant) => {
      const found = value(name, point);
      const seeds = Array.from({ length: found?.seeds ?? 0 }, (_, seed) => String(seed + 1));
      return { point: at, variant, value: found?.value ?? null, least: found?.least ?? null, greatest: found?.greatest ?? null, seeds, values: seeds.map(() => found?.value ?? 0) };
    }),
  );
  const reading: Reading = { name: "time", unit: "ns", shown_unit: "ns", statistic: "median", more_is_better: false, of: "jobs.jct_ns", cells, best: [] };
  const all = axes.map(([path, values, numbers]) => ({ path, label: path.toUpperCase(), values, numbers: numbers ?? null, unit: "", log: false }));
  return { rows: { axes: all, variants, points, readings: [reading] }, reading };
}

const cut = { variant: "a", down: 0, across: 1, at: ["", "", "y"] };

describe("the heat map of a sweep", () => {
  it("has the value of each pair, and the colours of all variants", () => {
    const { rows, reading } = sweep([["p", ["1", "2"]], ["q", ["10", "20", "40"]]], (variant, [p, q]) => {
      const middle = Number(p) * Number(q) * (variant === "b" ? 1000 : 100);
      return { value: middle, least: middle - 5, greatest: middle + 5, seeds: 4 };
    });
    const made = matrixOf(rows, reading, cut);
    assert.deepEqual(made?.values, [[1, 2, 4], [2, 4, 8]]);
    assert.deepEqual([made?.unit, made?.low, made?.high], ["µs", 1, 80]);
    assert.deepEqual([made?.down, made?.rows, made?.across, made?.columns], ["P", ["1", "2"], "Q", ["10", "20", "40"]]);
    assert.equal(made?.says[1]?.[2], "a\nP = 2\nQ = 40\n8 µs, 7.995 to 8.005 over 4 seeds");
    const turned = matrixOf(rows, reading, { ...cut, variant: "b", down: 1, across: 0 });
    assert.deepEqual(turned?.values, [[10, 20], [20, 40], [40, 80]]);
    assert.equal(turned?.title, "time of b over Q and P");
  });

  it("shows one value of each further axis, and gaps where no trial has a value", () => {
    const { rows, reading } = sweep([["p", ["1", "2"]], ["q", ["3", "5"]], ["r", ["x", "y"]]], (_, [p, q, r]) => {
      if (r === "x") return { value: 1e9 };
      return p === "2" && q === "3" ? null : { value: Number(p) * Number(q) };
    });
    const made = matrixOf(rows, reading, cut);
    assert.deepEqual(made?.values, [[3, 5], [null, 10]]);
    assert.deepEqual([made?.low, made?.high, made?.says[1]?.[0]], [3, 10, ""]);
    assert.equal(matrixOf(rows, reading, { ...cut, at: ["", "", "z"] }), null);
    assert.equal(matrixOf(rows, reading, { ...cut, across: 0 }), null);
  });

  it("has sides of two values or more", () => {
    const many = Array.from({ length: 65 }, (_, at) => String(at));
    assert.deepEqual(sides(sweep([["p", ["1"]], ["q", ["3", "5"]], ["r", many]], () => null).rows), [1]);
  });
});

describe("the bars of a sweep", () => {
  it("stand in groups by point, with whiskers and a dot for each seed", () => {
    const { rows, reading } = sweep([["size", ["1MiB", "2MiB"]]], (variant, [size]) => (variant === "b" && size === "2MiB" ? null : { value: 2e6, least: 1e6, greatest: 3e6, seeds: 3 }));
    const bars = barsOf(rows, reading);
    assert.deepEqual(bars.map((bar) => [bar.group, bar.name, bar.value]), [["1MiB", "a", 2], ["1MiB", "b", 2], ["2MiB", "a", 2], ["2MiB", "b", null]]);
    assert.deepEqual([bars[0]?.low, bars[0]?.high, bars[0]?.dots], [1, 3, [2, 2, 2]]);
    assert.equal(bars[3]?.say, "b\nSIZE = 2MiB\nno value");
  });
});

describe("the lines of a sweep", () => {
  const mib = 2 ** 20;
  it("are logarithmic over factors and linear over steps, and there are none over words", () => {
    const sizes = sweep([["size", ["4MiB", "1MiB", "16MiB"], [4 * mib, mib, 16 * mib]]], (_, [size]) => ({ value: Number.parseInt(size ?? "", 10) }));
    const lines = linesOf(sizes.rows, sizes.reading, 0);
    assert.equal(lines?.log, true);
    assert.deepEqual(lines?.series[1]?.points, [[mib, 1], [4 * mib, 4], [16 * mib, 16]]);
    const steps = sweep([["spines", ["1", "2", "3"], [1, 2, 3]]], () => ({ value: 1 }));
    assert.equal(linesOf(steps.rows, steps.reading, 0)?.log, false);
    const words = sweep([["kind", ["ecmp", "spray"]]], () => ({ value: 1 }));
    assert.equal(linesOf(words.rows, words.reading, 0), null);
  });

  it("tell the values of a second axis apart by dashes, and take the median over a third", () => {
    const two = sweep([["spines", ["2", "4"], [2, 4]], ["kind", ["x", "y"]]], (_, [spines, kind]) => ({ value: Number(spines) + (kind === "y" ? 10 : 0) }));
    const lines = linesOf(two.rows, two.reading, 0);
    assert.deepEqual(lines?.series.map((one) => [one.name, one.colour]), [["a, KIND=x", 0], ["a, KIND=y", 8], ["b, KIND=x", 1], ["b, KIND=y", 9]]);
    assert.deepEqual(lines?.series[1]?.points, [[2, 12], [4, 14]]);
    const three = sweep([["spines", ["2", "4"], [2, 4]], ["q", ["1", "3"], [1, 3]], ["kind", ["x", "y"]]], (_, [spines, q]) => ({ value: Number(spines) * Number(q) }));
    const over = linesOf(three.rows, three.reading, 0);
    assert.equal(over?.overPoints, true);
    // 2 and 6, each twice: the mean of the two in the middle.
    assert.deepEqual([over?.series[0]?.points[0], over?.series[0]?.spread?.[0]], [[2, 4], [2, 2, 6]]);
  });
});

it("names the best variant, with its confidence where there is one point", () => {
  const best = { variant: 1, runner_up: 0, difference: "50.0 % less", confidence: "p = 0.031, significant", significant: true };
  const one = sweep([], () => ({ value: 1 }));
  assert.deepEqual(winners(one.rows, { ...one.reading, best: [{ ...best, point: 0 }] }), ["b is best: 50.0 % less than a (p = 0.031, significant)."]);
  const two = sweep([["size", ["1", "2"]]], () => ({ value: 1 }));
  const both = [{ ...best, point: 0 }, { ...best, point: 1, significant: false }];
  assert.deepEqual(winners(two.rows, { ...two.reading, best: both }), ["b is best at 2 of 2 points, significantly at 1."]);
});
