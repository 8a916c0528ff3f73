import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cellMap, type CellMap } from "./cells";
import { keyed } from "./keys";
import { LIGHT } from "./theme";

const MAP: CellMap = {
  title: "Links up",
  metrics: [
    { key: "u", name: "Utilisation", unit: "%", full: 100 },
    { key: "d", name: "Dropped", unit: "frames", full: 4, warns: true },
  ],
  rows: [
    { name: "leaf0", cells: [{ name: "leaf0:0 → spine0", rate_bps: 4e11, values: [100, 0] }, { name: "leaf0:1 → spine1", rate_bps: 4e11, values: [0, 4] }] },
    { name: "leaf<1>", cells: [{ name: "leaf1:0 → spine0", rate_bps: 4e11, values: [null, 0] }] },
  ],
};

const fills = (svg: string): string[] => [...svg.matchAll(/<rect [^>]*height="16\.5"[^>]* fill="([^"]*)"/g)].map((found) => found[1] ?? "");

describe("rows of cells", () => {
  it("are coloured by what is chosen, and not where nobody has read it", () => {
    const [full, least] = ["rgb(11 63 125)", "rgb(232 237 243)"];
    assert.deepEqual(fills(cellMap(MAP, "u", 600, LIGHT).svg), [full, least, "none"]);
    assert.deepEqual(fills(cellMap(MAP, "d", 600, LIGHT).svg), [least, full, least]);
    // What has lost frames is marked whatever is chosen; names are text.
    const { svg } = cellMap(MAP, "u", 600, LIGHT);
    assert.equal(svg.match(/class="lossy"/g)?.length, 1);
    assert.ok(svg.includes("leaf&lt;1&gt;") && !svg.includes("<1>"));
  });

  it("say all numbers under the pointer and under keys", () => {
    const drawing = cellMap(MAP, "u", 600, LIGHT);
    const { left, top } = drawing.inner;
    const said = drawing.hover?.(left + 40, top + 2)?.text;
    assert.equal(said, "leaf0:1 → spine1\n400\u00a0Gb/s\nUtilisation: 0\u00a0%\nDropped: 4\u00a0frames");
    assert.equal(drawing.hover?.(left + 40, top + 20), null);
    let at = { x: 0, y: 0 };
    const texts = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp", "Home", "ArrowDown", "End", "ArrowLeft"].map((key) => {
      const to = keyed(drawing, at, key, false);
      at = to ?? at;
      return to?.text?.split(" ")[0];
    });
    assert.deepEqual(texts, ["leaf0:0", "leaf0:1", "leaf1:0", "leaf1:0", "leaf0:0", "leaf0:0", "leaf1:0", "leaf1:0", "leaf0:1"]);
    assert.match(keyed(drawing, at, "End", false)?.text ?? "", /Utilisation: not read/);
    assert.equal(keyed(drawing, at, "a", false), undefined);
  });

  it("fit any width", () => {
    const many = { ...MAP, rows: [{ name: "a long name of a switch", cells: Array.from({ length: 500 }, () => ({ name: "x", rate_bps: 1, values: [50, 0] })) }] };
    for (const width of [320, 800, 1400]) {
      const ends = [...cellMap(many, "u", width, LIGHT).svg.matchAll(/<rect x="([\d.]+)" y="24" width="([\d.]+)"/g)].map((found) => Number(found[1]) + Number(found[2]));
      assert.ok(ends.length === 500 && Math.max(...ends) <= width, `${width}`);
    }
  });
});
