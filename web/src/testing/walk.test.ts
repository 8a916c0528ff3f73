/**
 * Performs the walk "a picture of a table" of `docs/extending.md` on a copy of the page: the patch beside the
 * guide applies, its tests hold, and the page and the script of reports have the new picture.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";

const WEB = process.cwd();
const PATCH = resolve(WEB, "../docs/extending/picture.patch");
const TITLE = "Completion time of each iteration";

/** Files that a patch touches, each with whether it is new and the lines that it adds. */
function filesOf(patch: string): { isNew: boolean; added: number }[] {
  const files = patch.split(/^diff --git /m).slice(1);
  return files.map((file) => ({ isNew: file.includes("\nnew file mode"), added: file.match(/^\+(?!\+\+)/gm)?.length ?? 0 }));
}

describe("the walk that adds a picture of a table", () => {
  let copy = "";
  // A runner of tests that finds this variable takes itself for a child of another one, and runs nothing.
  const env: NodeJS.ProcessEnv = { ...process.env, REPORT_OUT: "report" };
  delete env["NODE_TEST_CONTEXT"];
  const node = (...words: string[]) => execFileSync(process.execPath, words, { cwd: copy, stdio: "pipe", env });
  const vite = (...words: string[]) => node("node_modules/vite/bin/vite.js", "build", "--logLevel", "error", ...words);
  const hasTitle = (folder: string) => readdirSync(join(copy, folder)).some((file) => file.endsWith(".js") && readFileSync(join(copy, folder, file), "utf8").includes(TITLE));

  before(() => {
    copy = mkdtempSync(join(tmpdir(), "tenter-walk-"));
    cpSync(WEB, copy, { recursive: true, filter: (from) => from !== join(WEB, "node_modules") });
    symlinkSync(join(WEB, "node_modules"), join(copy, "node_modules"));
    // Paths of the patch begin in the repository, and the copy is of the page alone.
    execFileSync("git", ["apply", "-p2", PATCH], { cwd: copy });
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  it("adds a file with its test, and one line to what there is", () => {
    const files = filesOf(readFileSync(PATCH, "utf8"));
    assert.equal(files.filter((file) => file.isNew).length, 2);
    assert.deepEqual(files.filter((file) => !file.isNew).map((file) => file.added), [1]);
  });

  it("leads to a picture whose types and tests hold", () => {
    node("node_modules/typescript/bin/tsc", "--noEmit");
    vite("--config", "vite.test.config.ts", "--outDir", "unit");
    // All tests of the copy would perform the walk again.
    const tests = readdirSync(join(copy, "unit")).filter((file) => /^pictures-tables-.*\.test\.js$/.test(file));
    assert.ok(tests.includes("pictures-tables-iterations.test.js"));
    node("--test", ...tests.map((file) => join("unit", file)));
  });

  it("leads to a picture in the page and in reports", () => {
    vite("--outDir", "page");
    assert.ok(hasTitle("page/assets"));
    vite("--config", "vite.report.config.ts");
    assert.ok(hasTitle("report"));
    assert.match(readFileSync(join(copy, "report/report.gen.json"), "utf8"), /tables\/collectives\?columns=job_name,size_bytes,iteration/);
  });
});
