/** Drawings in a narrow window, as of a telephone. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { draw } from "../pictures/spec";
import { scale } from "./axes";
import { drawFabric, fitted } from "./fabric";
import { layout, type Link, type Node } from "./layout";
import { svgPen } from "./pen";
import { LIGHT } from "./theme";
import { drawTimeline } from "./timeline";

const textsOf = (svg: string): string[] => [...svg.matchAll(/>([^<]+)<\/text>/g)].map(([, text = ""]) => text);

it("has several ticks on a short axis", () => {
  for (const [low, high] of [[0, 33e6], [65e3, 33e6], [0, 3.02e6], [0, 350e3], [1.28e6, 1.37e6]] as const) {
    const { ticks } = scale({ label: "Time", unit: "ns" }, low, high, 60, 290);
    assert.ok(ticks.length >= 2 && ticks.length <= 8, `${low} to ${high}: ${ticks.map((tick) => tick.text).join(", ")}`);
  }
});

it("gives names of lanes no more room than they need", () => {
  const spec = { kind: "timeline", title: "Jobs", label: "Time", from_ns: 0, to_ns: 100, lanes: ["demo"], columns: [], marked: null, bars: [[0, 0, 100, 0]] } as const;
  const { inner } = draw({ ...spec, lanes: [...spec.lanes], columns: [], bars: spec.bars.map((bar) => [...bar]) }, 358, LIGHT, { off: new Set(), metric: "", legend: false });
  assert.ok(inner.left <= 60, `${inner.left} pixels`);
});

it("names the first of the lanes of a rank, and lanes of another job again", () => {
  const lanes = ["rank 0", "rank 0", "rank 1", "rank 1"].map((name, at) => ({ name, job: at === 3 ? 1 : 0 }));
  const { pen, content } = svgPen();
  drawTimeline(pen, { from_ns: 0, to_ns: 100, lanes, bars: [] }, 358, LIGHT);
  assert.deepEqual(textsOf(content()), ["rank 0", "rank 1", "rank 1"]);
});

it("names the switches of a small fabric", () => {
  const nodes = ["leaf0", "leaf1", "spine0", "spine1", "host0", "host1"].map((name, id): Node => ({ id, name, kind: name.startsWith("host") ? "host" : "switch", tier: name.startsWith("spine") ? 2 : 1 }));
  const ends = [[4, 0], [5, 1], [0, 2], [0, 3], [1, 2], [1, 3]];
  const links = ends.map(([a = 0, b = 0]): Link => ({ a, b, rate_bps: 1e9 }));
  const { pen, content } = svgPen();
  drawFabric(pen, { nodes, links, layout: layout(nodes, links) }, fitted(358, 480), LIGHT);
  assert.deepEqual(textsOf(content()), ["leaf0", "leaf1", "spine0", "spine1", "host0", "host1"]);
});
