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

const TRAINING = `name: training
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: training
    workload:
      kind: training
      model: {layers: 2, hidden: 512, heads: 8, kv_heads: 4, ffn: 1408, vocabulary: 4000, sequence: 512}
      tp: 2
      pp: 2
      batch: 4
`;

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
    // Keys and words are completed from the schema, and explained under the pointer.
    await page.keyboard.type("obs");
    await page.locator(".cm-tooltip-autocomplete li", { hasText: "observe" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.sessionStorage.getItem("tenter-draft")?.startsWith("observe: "));
    assert.deepEqual(await barriers(), []);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await page.getByText("ready to run").waitFor();
    assert.equal((await draft()).startsWith("obs"), false);
    await page.locator(".cm-content").getByText("leaves", { exact: true }).hover();
    await page.locator(".explained", { hasText: "leaves" }).waitFor();
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

  it("tags it, and notes what was learned with a plot pinned to the note", async () => {
    await page.getByLabel("Tags", { exact: true }).fill("baseline");
    await button("Add tag").click();
    await button("Remove tag baseline").waitFor();
    await link("CDF and tail").click();
    await page.locator("figure.plot svg").first().waitFor();
    await button("Pin to notebook").first().click();
    await page.getByText("Pinned to the notebook").waitFor();
    // A picture of a table is a part of its page, and pinned like any other.
    await link("Ports").click();
    await page.locator("summary", { hasText: "Queue pairs per link" }).click();
    await page.getByRole("figure").filter({ hasText: "Queue pairs per link" }).getByRole("button", { name: "Pin to notebook" }).click();
    await page.getByText("Pinned to the notebook: Queue pairs per link").waitFor();
    await page.getByRole("navigation", { name: "One trial" }).getByRole("link", { name: "Notebook" }).click();
    await heading("Notebook").waitFor();
    await button("Edit note").click();
    const note = await page.getByLabel(/^Markdown/).inputValue();
    await page.getByLabel(/^Markdown/).fill(`# All-to-all\n\nBetween *two* ToRs. <img src=x onerror="window.hacked=1">\n\n${note}`);
    await button("Save note").click();
    await button("Edit note").waitFor();
    await page.getByRole("heading", { level: 1, name: "All-to-all" }).waitFor();
    await page.locator("figure.plot svg").first().waitFor();
    await page.locator("summary", { hasText: "Queue pairs per link" }).waitFor();
    assert.equal(await page.evaluate(() => "hacked" in window), false, "HTML in notes is text");
    assert.deepEqual(await barriers(), []);
  });

  it("shows flows, ports, queues, the timeline, what held the job up, and the fabric", async () => {
    await link("Statistics").click();
    await link("Data chunks").click();
    await page.getByRole("table", { name: "Table flows" }).getByRole("row").nth(5).waitFor();
    await page.getByLabel("Filter", { exact: true }).fill("src_rank = 3 and dst_rank = 5");
    await page.getByText(/^3 rows of 168$/).waitFor();
    assert.deepEqual(await barriers(), []);
    const csv = await downloaded(button("CSV"));
    const lines = csv.trim().split(/\r?\n/);
    assert.equal(lines.length, 4, csv);
    assert.match(lines[0] ?? "", /fct_ns/);
    // What is brushed in one plot is enlarged in all that share its axis.
    await link("CDF and tail").click();
    const [plot] = await page.locator("figure.plot .canvas.brushed").all();
    const box = await plot?.boundingBox();
    assert.ok(plot && box);
    await page.mouse.move(box.x + box.width * 0.4, box.y + 150);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 150, { steps: 4 });
    await page.mouse.up();
    await page.locator("figure.plot").nth(1).getByRole("button", { name: "Show all" }).waitFor();
    assert.ok((await page.locator("figure.plot .cursor").count()) > 1, "one cursor in both");
    await page.waitForURL(/[?&]fct\.span=/);
    await plot.press("0");
    await button("Show all").first().waitFor({ state: "detached" });
    for (const tab of ["Ports", "Timeline", "Queues and pauses", "What held it up"]) {
      await link(tab).click();
      await page.locator("main table tbody tr, main [role=table] [role=row], main canvas").first().waitFor();
      await page.waitForFunction(() => !document.querySelector("main")?.innerText.includes("Loading…"));
      if (tab === "Timeline") {
        await page.getByRole("region", { name: "Timeline", exact: true }).getByRole("button", { name: "Table" }).click();
        await page.getByRole("region", { name: "Numbers of the timeline, as it is shown" }).locator("tbody tr").nth(5).waitFor();
      }
      assert.deepEqual(await barriers(), [], tab);
    }
    await page.getByRole("navigation", { name: "One trial" }).getByRole("link", { name: "Fabric" }).click();
    await page.locator("main canvas").waitFor();
    await page.getByLabel("Colour", { exact: true }).selectOption("queue");
    const links = await downloaded(button(/^CSV of all/));
    assert.equal(links.trim().split("\r\n").length, 1 + 2 * (8 + 2 * 4), "each direction of each cable");
    assert.deepEqual(await barriers(), []);
  });

  it("keeps what is chosen in a view in its address", async () => {
    await link("Statistics").click();
    await link("Data chunks").click();
    const filter = page.getByLabel("Filter", { exact: true });
    await filter.fill("src_rank = 3");
    await page.getByText(/^21 rows of 168$/).waitFor();
    await page.getByRole("columnheader", { name: /^Chunk/ }).getByRole("button").click();
    await page.locator("[role=columnheader][aria-sort=descending]", { hasText: "Chunk" }).waitFor();
    assert.match(await page.title(), /^Data chunks · methodology\/jct-2.* · Tenter$/);
    await link("Timeline").click();
    const timeline = page.getByRole("region", { name: "Timeline", exact: true });
    const span = timeline.getByRole("status");
    const whole = await span.textContent();
    await timeline.getByRole("button", { name: "Enlarge" }).click();
    await page.waitForURL(/[?&]span=/);
    // How much time is shown; how many chunks that are is known a little later.
    const part = (await span.textContent())?.split(", ").at(-1) ?? "";
    assert.ok(part && !whole?.endsWith(part), `${whole}; ${part}`);
    // To another page and back: the timeline first, then the table.
    await link("Workspace").click();
    await heading("Workspace").waitFor();
    await page.goBack();
    await page.waitForFunction((said) => document.querySelector("section[aria-label=Timeline] [role=status]")?.textContent?.endsWith(said), part);
    await page.goBack();
    await page.getByText(/^21 rows of 168$/).waitFor();
    assert.equal(await filter.inputValue(), "src_rank = 3");
    await page.locator("[role=columnheader][aria-sort=descending]", { hasText: "Chunk" }).waitFor();
    await page.reload();
    await page.getByText(/^21 rows of 168$/).waitFor();
    assert.equal(await filter.inputValue(), "src_rank = 3");
  });

  it("runs it again on another fabric, and compares the two", async () => {
    await link("Change and run again").click();
    await page.getByText("ready to run").waitFor();
    await page.getByLabel("name", { exact: true }).first().fill("one switch");
    await page.getByLabel("kind", { exact: true }).first().selectOption("single-switch");
    await page.getByLabel("hosts", { exact: true }).fill("8");
    await page.waitForFunction(() => window.sessionStorage.getItem("tenter-draft")?.includes("hosts: 8"));
    await page.getByText("ready to run").waitFor();
    await button("Run trial").click();
    await heading("Statistics").waitFor({ timeout: 60_000 });
    await page.getByText("one switch").first().waitFor();
    await link("Workspace").click();
    await page.getByLabel("Compare methodology/jct-2").check();
    await page.getByLabel("Compare one switch").check();
    await page.getByRole("main").getByRole("link", { name: "Compare 2" }).click();
    await heading("Compare").waitFor();
    await page.locator('table[data-table="compare"] tbody tr').first().waitFor();
    const results = await cells('table[data-table="compare"]');
    assert.ok(results.some((row) => row[1] === "time" && /%/.test(row[3] ?? "")), "differences are shown");
    const settings = await cells('table[data-table="configurations"]');
    assert.ok(settings.some((row) => row[0] === "fabric.kind" && row.includes("single-switch") && row.includes("leaf-spine")));
    await page.locator("figure.plot svg").first().waitFor();
    assert.deepEqual(await barriers(), []);
    const csv = await downloaded(page.getByRole("region", { name: "Results side by side" }).locator("xpath=following-sibling::div").getByRole("button", { name: "CSV" }));
    assert.match(csv, /^trial,job_name/);
  });

  it("draws the operations of a training, which other trials have no tab for", async () => {
    assert.equal(await link("Operations").count(), 0);
    await link("Configure").click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(TRAINING);
    await page.waitForFunction(() => window.sessionStorage.getItem("tenter-draft")?.includes("kind: training"));
    await page.getByText("ready to run").waitFor();
    await button("Run trial").click();
    await heading("Statistics").waitFor({ timeout: 60_000 });
    await link("Operations").click();
    const figure = page.locator("figure.plot");
    await figure.locator("svg").waitFor();
    assert.equal(await figure.count(), 1);
    assert.ok((await figure.locator("svg rect").count()) > 50);
    const written = await figure.locator("svg text").allTextContents();
    for (const word of ["rank 0", "compute", "TP", "tensor parallelism (TP)"]) assert.ok(written.includes(word), word);
    // By pointer and by keys, over what lies between two bars.
    const canvas = figure.locator(".canvas");
    const bar = figure.locator("svg rect").nth(20);
    await bar.hover();
    const tip = figure.locator(".tip");
    assert.match((await tip.textContent()) ?? "", /^rank \d+, /);
    await canvas.focus();
    await page.keyboard.press("Home");
    const said = new Set();
    for (let step = 0; step < 110; step += 1) {
      await page.keyboard.press("ArrowRight");
      if (await tip.count()) said.add(await tip.textContent());
    }
    assert.ok(said.size > 1, [...said].join("; "));
    await button("Table").click();
    await page.getByRole("region", { name: /^Numbers of training, iteration/ }).locator("tbody tr").nth(20).waitFor();
    assert.deepEqual(await barriers(), []);
    // Its collectives have chains of several chunks, as a picture, too.
    await link("What held it up").click();
    await page.locator(".canvas[aria-label^='The chunks of the chain'] svg rect").first().waitFor();
    assert.deepEqual(await barriers(), []);
  });

  it("runs a small sweep", async () => {
    await link("Sweeps").click();
    await heading("Sweeps").waitFor();
    await link("New sweep").click();
    await page.getByLabel("Scenario", { exact: true }).selectOption("preset:single-switch-8");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(
      "name: sizes\naxes:\n  jobs[0].collectives[0].size: [1MiB, 2MiB]\n  fabric.rate: [200Gbps, 400Gbps]\nseeds: 2\nreadings:\n  - {name: JCT, query: max(jobs.jct_ns)}\n",
    );
    await button("Run sweep").click();
    await page.locator('table[data-table="sweep"] tbody tr').nth(7).waitFor();
    await page.waitForFunction(
      () => [...document.querySelectorAll('table[data-table="sweep"] tbody tr')].every((row) => /s$/.test(row.querySelector("td:last-child")?.textContent ?? "")),
      undefined,
      { timeout: 40_000 },
    );
    await page.locator("figure.plot svg").first().waitFor();
    // Over its two axes: a cell for each pair, with its number and what is said of it.
    const pairs = page.locator('.canvas[aria-label^="JCT over size and rate"]');
    assert.equal(await pairs.locator("rect.cell").count(), 4);
    await pairs.focus();
    await page.keyboard.press("End");
    assert.match((await pairs.locator(".tip").textContent()) ?? "", /^size = 2MiB\nrate = 400Gbps\n[\d.]+ µs/);
    assert.deepEqual(await barriers(), []);
    // Each of its trials is one of the workspace, with what the sweep keeps.
    await page.locator('table[data-table="sweep"] tbody tr a').first().click();
    await heading("Statistics").waitFor();
    await page.getByText(/^sizes: .*size=1MiB, .*rate=200Gbps, seed 1/).first().waitFor();
    await page.locator('table[data-table^="summary"]').waitFor();
    await page.getByText("which keeps the summary and the readings of each trial").waitFor();
    assert.deepEqual(await barriers(), []);
  });

  it("groups, filters, plots and picks trials, and finds one by a part of its name", async () => {
    await link("Workspace").click();
    await heading("Workspace").waitFor();
    /** @param {string} name @param {string} words @param {string} option */
    const choose = async (name, words, option = "") => {
      await page.getByRole("combobox", { name, exact: true }).fill(words);
      await page.locator(".choice [role=option]", { hasText: option }).first().click();
    };
    await choose("Group by", "sweep");
    const group = button(/^. Sweep: sizes/);
    assert.match((await group.textContent()) ?? "", /8 trials$/);
    await choose("Group by", "size");
    await group.click();
    await button(/^. size: 2MiB/).click();
    assert.equal(await page.getByRole("link", { name: /^sizes: .*size=2MiB/ }).count(), 4);
    assert.deepEqual(await barriers(), []);
    await choose("Filter by", "rate setting");
    await page.getByRole("textbox", { name: "Filter by rate", exact: true }).fill("> 300Gb/s");
    await page.getByText(/^4 trials of \d+/).waitFor();
    await button("Plot").click();
    await page.locator("section[aria-label='Plot of trials'] figure svg").waitFor();
    assert.deepEqual(await barriers(), []);
    // The address follows the view within a quarter of a second.
    await page.waitForFunction(() => window.location.hash.includes("plot=1"));
    await page.reload();
    await page.getByText(/^4 trials of \d+/).waitFor();
    await page.locator("section[aria-label='Plot of trials'] figure svg").waitFor();
    await button("Pick all").click();
    await page.getByText("4 picked trials; median").waitFor();
    await page.getByText("can be plotted, not compared").waitFor();
    await button("Clear").click();
    await link("Compare").click();
    await choose("Add a trial", "one sw", "one switch");
    await button("Remove one switch").waitFor();
    await choose("Add a trial", "train", "training");
    await page.locator('table[data-table="compare"] tbody tr').first().waitFor();
    assert.deepEqual(await barriers(), []);
  });

  it("aborts a trial in the middle and keeps what it has", async () => {
    await link("Configure").click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(
      "name: long\nfabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}\njobs:\n  - name: train\n    ranks: 16\n    collectives: [{collective: all-to-all, size: 32GiB}]\n",
    );
    await page.waitForFunction(() => window.sessionStorage.getItem("tenter-draft")?.includes("size: 32GiB"));
    await page.getByText("ready to run").waitFor();
    await button("Run trial").click();
    await page.getByRole("progressbar").waitFor();
    await page.waitForFunction(() => Number(document.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow")) > 0);
    // Its links and queues, in the last sampling interval.
    const now = page.getByRole("region", { name: "Links and queues now" });
    await now.getByRole("heading", { name: /^Links at [\d.]+.[nµm]s$/ }).waitFor();
    await now.locator("canvas").waitFor();
    await now.getByRole("button", { name: "Table" }).first().click();
    await now.getByRole("region", { name: /^Numbers of Utilisation/ }).locator("tbody tr").nth(5).waitFor();
    assert.deepEqual(await barriers(), []);
    await button("Abort").click();
    await page.getByText("It was stopped; what had been recorded by then is kept.").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Statistics" }).click();
    await page.locator('table[data-table="summary"]').waitFor();
  });

  it("lists published studies with their verdicts", async () => {
    await link("Studies").click();
    await heading("Studies").waitFor();
    await link("methodology/jct-2").click();
    await page.getByRole("region", { name: "Cases of the study" }).locator("tbody tr").first().waitFor();
    await page.locator("figure.plot svg").first().waitFor();
    assert.deepEqual(await barriers(), []);
  });

  it("fits the window of a telephone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const views = ["trials/1/statistics/summary", "trials/1/statistics/all", "trials/1/fabric", "trials/1/notebook", "compare?ids=1,2", "sweeps/1"];
    const lists = ["", "configure?trial=1", "configure?view=mapping", "configure?view=derived", "run", "sweeps", "sweeps/new", "studies"];
    for (const view of [...views, ...lists]) {
      await page.goto(`${server.url}/#/${view}`);
      await page.locator("main h1").first().waitFor();
      await page.waitForFunction(() => !document.querySelector("main")?.innerText.includes("Loading…"));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `#/${view} is ${wide} pixels wide`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

it("asks for nothing elsewhere, and complains of nothing", () => {
  assert.deepEqual(complaints, []);
});
