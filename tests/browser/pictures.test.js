// @ts-check
// README.md, the tutorial and the guides: their commands print what they show, and the pictures are those of the reports.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workplace } from "./make-trials.js";
import { IMAGES, pictures, ROOT, run } from "./pictures.js";

const GUIDES = readdirSync(join(ROOT, "docs/guides")).map((name) => `docs/guides/${name}`);

test("README.md shows what its commands print, and the pictures of their reports", async () => {
  const workplace = new Workplace();
  assert.deepEqual(run(workplace, "README.md"), []);
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  for (const [name, svg] of await pictures(workplace)) {
    assert.ok(readme.includes(`docs/images/${name}`), `README.md shows ${name}`);
    assert.equal(readFileSync(join(IMAGES, name), "utf8"), `${svg}\n`, `${name} differs: make pictures, and look at it`);
  }
  workplace.remove();
});

for (const page of ["docs/tutorial.md", ...GUIDES]) {
  test(`${page} shows what its commands print`, () => {
    const workplace = new Workplace();
    assert.deepEqual(run(workplace, page), []);
    workplace.remove();
  });
}
