// @ts-check
// The workspace as a new user goes through it: configure, map, run, read, note, compare, sweep.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { launch } from "./browser.js";
import { Workplace } from "./make-trials.js";
import { openPage, Server } from "./workspace.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** @type {Awaited<ReturnType<typeof launch>>} */
let browser;
/** @type {Server} */
let server;
/** @type {Workplace} */
let workplace;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let complaints;

before(async () => {
  workplace = new Workplace();
  server = new Server();
  await server.start();
  browser = await launch();
  ({ page, complaints } = await openPage(browser, server));
  page.setDefaultTimeout(20_000);
});
after(async () => {
  await browser?.close();
  await server?.remove();
  workplace?.remove();
});

/** @param {string} name */
const link = (name) => page.getByRole("link", { name, exact: true });
/** @param {string | RegExp} name */
const button = (name) => page.getByRole("button", { name, exact: typeof name === "string" });
/** @param {string} name */
const heading = (name) => page.getByRole("heading", { level: 1, name, exact: true });

/** The text of the scenario in the editor; the draft is kept with every change. */
const draft = () => page.evaluate(() => window.sessionStorage.getItem("tenter-draft") ?? "");

/** What keeps people with a keyboard or a screen reader from using the page. */
async function barriers() {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // @ts-expect-error axe is not part of the page
    const found = await window.axe.run(document, { resultTypes: ["violations"] });
    return found.violations
      .filter((/** @type {any} */ one) => ["serious", "critical"].includes(one.impact))
      .map((/** @type {any} */ one) => `${one.id}: ${one.nodes.map((/** @type {any} */ node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
  });
}

/** Cells of a table, row by row. @param {string} selector */
const cells = (selector) =>
  page.locator(`${selector} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())));

/** A file that a button hands out. @param {import("playwright-core").Locator} by */
async function downloaded(by) {
  const [file] = await Promise.all([page.waitForEvent("download"), by.click()]);
  return readFileSync(await file.path(), "utf8");
}

describe("the workspace", { timeout: 170_000 }, () => {
  it("begins empty and leads to the presets", async () => {
    await page.getByText("No trials yet").waitFor();
    assert.deepEqual(await barriers(), []);
    await link("Configure a trial").click();
    await heading("Configure").waitFor();
  });

  it("configures the methodology's all-to-all from a preset, by form and by text", async () => {
    await button(/methodology\/jct-2/).click();
    await page.getByText("ready to run").waitFor();
    // By the form: the text follows, with its comments.
    await page.getByLabel("end", { exact: true }).fill("64MiB");
    await page.getByLabel("start", { exact: true }).fill("16MiB");
    await page.waitForFunction(() => window.sessionStorage.getItem("tenter-draft")?.includes("end: 64MiB"));
    const text = await draft();
    assert.match(text, /leaves: 2 {16,}# ToR 1\.1 and 1\.2/, "the form leaves comments alone");
    // By the text: a mistake has its place, and is data.
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("nonsense: 1\n");
    await page.getByText("1 problem", { exact: true }).waitFor();
    assert.equal(await button("Run trial").isDisabled(), true);
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await page.getByText("ready to run").waitFor();
    assert.equal((await draft()).includes("nonsense"), false);
    assert.deepEqual(await barriers(), []);
  });

  it("maps ranks to ports by a list and by keys", async () => {
    await link("Port mapping").click();
    await page.getByLabel(/^Paste a mapping/).fill("0 host0\n1 host1\n2 host4\n3 host5\n4 host2\n5 host3\n6 host6\n7 host7");
    await button("Apply").click();
    await page.getByLabel("Rank 2 on host4").waitFor();
    assert.match(await draft(), /ranks: \[host0, host1, host4, host5, host2, host3, host6, host7\]/);
    await page.getByLabel("Rank 7 on host7").press("Enter");
    await page.getByLabel("Put rank 7 on host6").press("Enter");
    await page.getByLabel("Rank 7 on host6").waitFor();
    assert.match(await draft(), /host3, host7, host6\]/);
    assert.deepEqual(await barriers(), []);
  });

  it("runs it, watches it, and shows the numbers of tenter run to the digit", async () => {
    await page.getByText("ready to run").waitFor();
    const text = await draft();
    await button("Run trial").click();
    await heading("Statistics").waitFor({ timeout: 60_000 });
    const file = join(workplace.folder, "same.yaml");
    writeFileSync(file, text);
    const printed = workplace.tenter("run", file, "-o", "same");
    const rows = await cells('table[data-table^="summary"]');
    assert.equal(rows.length, 3, "a row for each size");
    const lines = printed.split("\n").map((line) => line.trim().split(/\s{2,}/).join("|"));
    for (const row of rows) {
      const joined = row.join("|");
      assert.ok(lines.some((line) => line.includes(joined)), `${joined} is not printed by tenter run:\n${printed}`);
    }
    const digest = /digest ([0-9a-f]{32})/.exec(printed)?.[1] ?? "";
    await page.getByText(digest).first().waitFor();
    assert.deepEqual(await barriers(), []);
  });
});

it("asks for nothing elsewhere, and complains of nothing", () => {
  assert.deepEqual(complaints, []);
});
