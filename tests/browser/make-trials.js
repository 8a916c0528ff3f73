// @ts-check
// Runs the trials whose reports the tests open, with the `tenter` of this working copy.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** The release binary: `TENTER` says where it is, or it is where `make build` leaves it. */
export function binary() {
  const target = process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target");
  const path = process.env["TENTER"] ?? join(target, "release/tenter");
  if (existsSync(path)) return path;
  throw new Error(`${path} is not there; make it with \`make build\`, or set TENTER`);
}

/** A folder for trials and reports that is removed by `remove`. */
export class Workplace {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "tenter-browser-"));
  }

  /** @param {string[]} args */
  tenter(...args) {
    return execFileSync(binary(), args, { cwd: this.folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  /**
   * Runs a scenario of the repository, or the text of one.
   * @param {string} name of the trial
   * @param {{ file?: string, text?: string, set?: string[] }} scenario
   */
  trial(name, scenario) {
    const file = scenario.file ? join(ROOT, scenario.file) : join(this.folder, `${name}.yaml`);
    if (scenario.text) writeFileSync(file, scenario.text);
    const set = (scenario.set ?? []).flatMap((one) => ["--set", one]);
    this.tenter("run", file, "-o", name, ...set);
    return name;
  }

  /**
   * Runs studies in their quick form.
   * @param {string} name of the folder
   * @param {string[]} studies
   */
  studies(name, ...studies) {
    this.tenter("study", "run", "--quick", ...studies, "-o", name);
    return name;
  }

  /** @param {string} output @param {string[]} trials */
  report(output, ...trials) {
    this.tenter("report", ...trials, "-o", output);
    return join(this.folder, output);
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
