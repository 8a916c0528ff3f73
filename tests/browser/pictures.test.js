// @ts-check
// README.md: its commands print what it shows below them, and its pictures are those of their reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Workplace } from "./make-trials.js";
import { commands, IMAGES, pictures, plain, run } from "./pictures.js";

/** @type {Workplace} */
let workplace;
/** @type {string[]} */
let printed;

before(() => {
  workplace = new Workplace();
  printed = run(workplace);
});
after(() => workplace?.remove());

test("the commands of README.md print what it shows", () => {
  commands().forEach(({ words, shown }, at) => {
    const lines = (printed[at] ?? "").split("\n").map(plain);
    const missing = shown.map(plain).filter((line) => line !== "…" && !lines.includes(line));
    assert.deepEqual(missing, [], `tenter ${words.join(" ")} prints other lines`);
  });
});

test("the pictures of README.md are those of its commands", async () => {
  const readme = readFileSync(join(IMAGES, "../../README.md"), "utf8");
  for (const [name, svg] of await pictures(workplace)) {
    assert.ok(readme.includes(`docs/images/${name}`), `README.md shows ${name}`);
    assert.equal(readFileSync(join(IMAGES, name), "utf8"), `${svg}\n`, `${name} differs: make pictures, and look at it`);
  }
});
