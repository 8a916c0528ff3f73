// @ts-check
// Commands print what pages show below them, and the pictures of README.md are those of its reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workplace } from "./make-trials.js";
import { IMAGES, pictures, ROOT, run, showing } from "./pictures.js";

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

for (const page of showing()) {
  test(`${page} shows what its commands print`, () => {
    const workplace = new Workplace();
    assert.deepEqual(run(workplace, page), []);
    workplace.remove();
  });
}
