import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyed } from "./keys";
import { matrix, type Matrix } from "./matrix";
import { DARK, LIGHT } from "./theme";

const MAP: Matrix = {
  title: "time over p and q",
  down: "p",
  across: "q",
  rows: ["1", "2"],
  columns: ["10", "20", "40"],
  values: [[1, 2.5, null], [3, 4, 5]],
  unit: "ms",
  low: 1,
  high: 5,
  says: [["a", "b", ""], ["c", "d", "e"]],
};

const CELL = /<rect [^>]*fill="(rgb[^"]*)" class="cell"\/>(?:<text [^>]* fill="([^"]*)"[^>]*>([^<]*)<)?/g;

describe("a heat map over two axes", () => {
  it("has a colour and a number for each value, and the texts of both axes", () => {
    const { svg } = matrix(MAP, 700, LIGHT);
    const cells = [...svg.matchAll(CELL)].map((found) => found.slice(1));
    assert.deepEqual(cells.map(([, , number]) => number), ["1", "2.5", "3", "4", "5"]);
    assert.deepEqual([cells[0]?.[0], cells[4]?.[0]], ["rgb(232 237 243)", "rgb(11 63 125)"]);
    for (const text of ["p", "q", "1", "2", "10", "20", "40", "1 ms", "5 ms"]) assert.ok(svg.includes(`>${text}</text>`), text);
  });

  it("writes numbers in what differs from their ground", () => {
    const light = [...matrix(MAP, 700, LIGHT).svg.matchAll(CELL)].map((found) => found[2]);
    assert.deepEqual([light[0], light[4]], [LIGHT.ink, LIGHT.ground]);
    const dark = [...matrix(MAP, 700, DARK).svg.matchAll(CELL)].map((found) => found[2]);
    assert.deepEqual([dark[0], dark[4]], [DARK.ink, DARK.ground]);
  });

  it("says a cell under the pointer, and goes by keys from value to value", () => {
    const drawing = matrix(MAP, 700, LIGHT);
    const { left, top } = drawing.inner;
    assert.equal(drawing.hover?.(left + 10, top + 30)?.text, "c");
    assert.equal(drawing.hover?.(left + 310, top + 2), null);
    assert.deepEqual(drawing.stops?.().map((stop) => stop.text), ["a", "b", "c", "d", "e"]);
    assert.equal(keyed(drawing, { x: 0, y: 0 }, "ArrowRight", false)?.text, "a");
  });

  it("has no numbers where cells are small, and fits any width", () => {
    const columns = Array.from({ length: 40 }, (_, at) => `${at}MiB`);
    const wide = { ...MAP, columns, values: MAP.rows.map(() => columns.map(() => 1234.5)), says: [] };
    for (const width of [320, 800]) {
      const { svg } = matrix(wide, width, LIGHT);
      assert.ok(!svg.includes("1,234.5"), "no number");
      const ends = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"[^>]*class="cell"/g)].map((found) => Number(found[1]) + Number(found[2]));
      assert.ok(ends.length === 80 && Math.max(...ends) <= width, `${width}`);
    }
  });
});
