import assert from "node:assert/strict";
import { it } from "node:test";
import type { HeldUpCollective } from "../api/types";
import { difference, isHeld, lossRows } from "./held-up-rows";

type Link = HeldUpCollective["links"][number];
const link = (text: string, lost_ns: number, nic_wait_ns = 0, rank_wait_ns = 0) => ({ text, lost_ns, nic_wait_ns, rank_wait_ns, held_by_rate_ns: 0 }) as Link;
const names = (one: { links: Link[] }) => one.links.map((each) => each.text);

it("leaves out chunks of a long chain that lost nothing, and what rounding leaves", () => {
  const found = lossRows({ chunks: 100, links: [link("a", 12.5), link("b", 2.3e-10), link("c", 0, 3), link("d", 0, 0, -1e-12), link("e", 0, 0, 1)] });
  assert.deepEqual(names(found), ["a", "c", "e"]);
  assert.equal(found.title, "The 3 chunks that lost time; the other 97 chunks lost none");
  assert.equal(lossRows({ chunks: 3, links: [link("a", 1), link("b", 0)] }).title, "The chunk that lost time; the other 2 chunks lost none");
  assert.equal(lossRows({ chunks: 3, links: [link("b", 0)] }).title, "No chunk lost time");
  assert.equal(lossRows({ chunks: 3, links: [link("a", 1), link("b", 2)] }).title, "The 2 chunks that lost most");
});

it("names rates as a cause where they were one", () => {
  assert.deepEqual([12, 1e-10].map((held_by_rate_ns) => isHeld({ held_by_rate_ns })), [true, false]);
  const held = { ...link("a", 0), held_by_rate_ns: 3 };
  assert.deepEqual(names(lossRows({ chunks: 3, links: [held, link("b", 0)] })), ["a"]);
});

it("keeps a short chain whole", () => {
  assert.deepEqual(names(lossRows({ chunks: 2, links: [link("a", 0), link("b", 5)] })), ["a", "b"]);
});

it("takes what is below a picosecond for nothing", () => {
  assert.deepEqual([2.3e-10, -4.6e-13, 0.001, -0.001].map(difference), [0, 0, 0.001, -0.001]);
});
