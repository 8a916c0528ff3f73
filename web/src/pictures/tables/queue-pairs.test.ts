import assert from "node:assert/strict";
import { it } from "node:test";
import type { Cell } from "../../api/types";
import { draw, numbersOf } from "../spec";
import { LIGHT } from "../../draw/theme";
import { pairs } from "./queue-pairs";

/** Two NICs on two leaves, and `spines` spines. Node, name, port, peer and queue pairs. */
const fabric = (spines: number): Cell[][] => [
  [0, "host-0", 0, "leaf-0", 9],
  [1, "host-1", 0, "leaf-1", 9],
  [2, "leaf-0", 0, "host-0", 9],
  ...Array.from({ length: spines }, (_, at): Cell[] => [2, "leaf-0", 1 + at, `spine-${at}`, 1 + at]),
];

it("counts the queue pairs of links between switches alone", () => {
  const made = pairs.picture(fabric(2), { hosts: 2 });
  assert.equal(made?.lead, "1 to 2, mean 1.5");
  assert.deepEqual(numbersOf(made.plot).rows, [
    ["leaf-0:1 → spine-0", 1],
    ["leaf-0:2 → spine-1", 2],
  ]);
  assert.equal(pairs.picture(fabric(0), { hosts: 2 }), null);
});

it("draws the first links of a large fabric, and says how many there are", () => {
  const made = pairs.picture(fabric(100), { hosts: 2 });
  assert.match(made?.lead ?? "", /; the first 64 of 100 links, the table has all$/);
  const { svg } = draw(made?.plot ?? assert.fail(), 600, LIGHT, { off: new Set(), metric: "", legend: false });
  assert.equal(svg.match(/class="bar"/g)?.length, 64);
  assert.equal(numbersOf(made?.plot ?? assert.fail()).rows.length, 100);
});
