// @ts-check
// Reports, opened in a real browser: no error, every plot drawn, and what moves moves.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";
import { Workplace } from "./make-trials.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const HOSTILE = "</script><script>window.hacked=1</script>";
const HOSTILE_JOB = "'><img src=x onerror=\"window.hacked=1\"></title></style>";
/** What a report of 512 ranks may have, beside a small one. */
const SIZE_LIMIT = 2 * 1024 * 1024;

/** @type {Awaited<ReturnType<typeof launch>>} */
let browser;
/** @type {Workplace} */
let workplace;

before(async () => {
  workplace = new Workplace();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  workplace?.remove();
});

/**
 * Opens a report and fails on whatever the console, the page or the network complains of.
 * @param {string} file
 * @param {"light" | "dark"} [colorScheme]
 * @param {string} [hash] the page of the report; the one that it opens on without it
 */
async function open(file, colorScheme = "light", hash = "") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) complaints.push(`fetches ${request.url()}`);
  });
  page.setDefaultTimeout(20_000);
  await page.goto(pathToFileURL(file).href + hash);
  await settled(page);
  return { page, complaints };
}

/**
 * Waits until everything of the page that is shown has its answer.
 * @param {import("playwright-core").Page} page
 */
async function settled(page) {
  await page.locator("main h1").waitFor();
  await page.waitForFunction(() => !document.querySelector("main")?.innerText.includes("Loading…"));
  await page.waitForFunction(() => [...document.querySelectorAll("figure.plot .canvas")].every((one) => one.querySelector("svg, canvas")));
  const missing = await page.evaluate(() => /does not have that|could not be drawn/.test(document.querySelector("main")?.innerText ?? ""));
  assert.equal(missing, false, "the report has the answers to all that it asks");
}

/** What keeps people with a keyboard or a screen reader from using the page. @param {import("playwright-core").Page} page */
async function barriers(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // @ts-expect-error axe is not part of the page
    const found = await window.axe.run(document, { resultTypes: ["violations"] });
    return found.violations
      .filter((/** @type {any} */ one) => ["serious", "critical"].includes(one.impact))
      .map((/** @type {any} */ one) => `${one.id}: ${one.nodes.map((/** @type {any} */ node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
  });
}

/**
 * What overlaps of the texts of drawings, pair by pair.
 * @param {import("playwright-core").Page} page
 * @param {string} pictures selects the drawings
 * @param {string} texts selects what is written in one
 * @param {number} above by so many pixels one may reach into what is written below it
 */
async function overlaps(page, pictures, texts, above) {
  return page.evaluate(
    ([pictures, texts, above]) => {
      const apart = (/** @type {DOMRect} */ a, /** @type {DOMRect} */ b) =>
        a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + above || b.bottom <= a.top + above;
      /** @type {string[]} */
      const found = [];
      for (const svg of document.querySelectorAll(pictures)) {
        const written = [...svg.querySelectorAll(texts)];
        written.forEach((one, at) => {
          for (const other of written.slice(at + 1)) {
            if (!apart(one.getBoundingClientRect(), other.getBoundingClientRect())) {
              found.push(`${one.textContent} | ${other.textContent}`);
            }
          }
        });
      }
      return found;
    },
    /** @type {[string, string, number]} */ ([pictures, texts, above]),
  );
}

/**
 * Every drawing that is shown has an area and marks in it.
 * @param {import("playwright-core").Page} page
 */
async function drawings(page) {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll("figure.plot .canvas > div > svg[role=img]")];
    return shown.map((svg) => {
      const box = svg.getBoundingClientRect();
      const marks = [...svg.querySelectorAll(":not(clipPath) > :is(path, rect, polyline)")];
      const lengths = marks.map((mark) => (mark instanceof SVGPathElement ? mark.getTotalLength() : 1));
      const inside = marks.every((mark) => {
        const place = mark.getBoundingClientRect();
        return place.left >= box.left - 2 && place.right <= box.right + 2;
      });
      return {
        name: svg.getAttribute("aria-label") ?? "",
        area: box.width * box.height,
        marks: marks.length,
        drawn: lengths.filter((length) => length > 0).length,
        numbers: !/NaN|inf/.test(svg.outerHTML),
        inside,
      };
    });
  });
}

describe("the report of a trial with pauses", () => {
  /** @type {string} */
  let file;
  before(() => {
    workplace.trial("pfc", { file: "scenarios/pfc.yaml", set: ["observe.sample_interval=5us"] });
    file = workplace.report("pfc.html", "pfc");
  });

  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    it(`draws every plot without a complaint, ${scheme}`, async () => {
      const { page, complaints } = await open(file, scheme);
      assert.equal(await page.locator("h1").textContent(), "pfc");
      const all = await drawings(page);
      // Distribution and tail, the distribution by size, parts of the time, four directions of links, queues as colours
      // and as lines, loads, pauses, queue pairs per link; the axis of the timeline, a canvas as the fabric is.
      const names = all.map((one) => one.name).join("; ");
      assert.equal(all.length, 14, names);
      for (const one of all.filter((one) => one.name !== "Time axis")) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      assert.equal(await page.locator("figure.plot canvas").count(), 2);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, scheme === "dark" ? "rgb(18, 23, 30)" : "rgb(255, 255, 255)");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
      assert.deepEqual(await barriers(page), []);
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("has each part as a page of its own, and no part that needs a server", async () => {
    const { page, complaints } = await open(file);
    const tabs = await page.getByRole("navigation", { name: "Statistics" }).getByRole("link").allTextContents();
    assert.ok(tabs.length > 8 && tabs[0] === "Everything", tabs.join("; "));
    for (const tab of tabs) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await settled(page);
    }
    for (const name of ["Pin to notebook", "Delete", "Add tag", "Change and run again", "Parquet"]) {
      assert.equal(await page.getByText(name, { exact: true }).count(), 0, name);
    }
    assert.ok(await page.getByText("host_rate").count(), "the scenario is there");
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("shows values under the pointer and under the arrow keys", async () => {
    const { page, complaints } = await open(file);
    const tip = page.locator(".tip");
    const canvas = (/** @type {string} */ name) => page.locator(`.canvas[aria-label^="${name}"]`);
    await canvas("Timeline of data chunks").hover({ position: { x: 300, y: 10 } });
    assert.match((await tip.textContent()) ?? "", /rank \d+\n[\d.]+.[mµn]?s to .*\none chunk/s);
    await page.mouse.move(0, 0);
    await canvas("NIC → leaf").focus();
    await page.keyboard.press("ArrowRight");
    assert.match((await tip.textContent()) ?? "", /host0:0 → leaf0\n400.Gb\/s\nUtilisation: [\d.]+.%\nPaused: [\d.]+.[mµn]?s\nDropped: 0.frames\nDeepest queue: [\d.]+.[KM]?i?B/);
    await canvas("Flow completion times of").focus();
    await page.keyboard.press("End");
    assert.match((await tip.textContent()) ?? "", /ms\n100\u00a0%/);
    await page.keyboard.press("Escape");
    assert.equal(await tip.count(), 0);
    // The cable of the receiver, in both directions.
    const fabric = canvas("Utilisation of the fabric");
    const box = await fabric.boundingBox();
    assert.ok(box);
    const said = new Set();
    for (let x = 60; x < 300; x += 6) {
      await fabric.hover({ position: { x, y: box.height * 0.71 } });
      if (await tip.count()) said.add(await tip.textContent());
    }
    assert.match([...said].join("\n\n"), /host0 – leaf0: 400.Gb\/s\nhost0 → leaf0: .*\nleaf0 → host0: 99\.?\d* %/);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("switches lines off and colours links by what is asked for", async () => {
    const { page } = await open(file);
    const figure = page.locator("figure.plot:has(.legend button)").first();
    const lines = figure.locator(".canvas g[clip-path] path");
    const count = await lines.count();
    const button = figure.locator(".legend button").first();
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.equal(await lines.count(), count - 1);
    const values = () => page.$$eval('.canvas[aria-label^="NIC → leaf"] svg > rect', (cells) => cells.map((cell) => cell.getAttribute("fill")));
    const before = await values();
    await page.locator(".part:has(#part-links)").getByLabel("Colour", { exact: true }).selectOption("p");
    assert.notDeepEqual(await values(), before);
    await page.close();
  });

  it("saves drawings, tells their numbers, and sorts tables", async () => {
    const { page, complaints } = await open(file);
    /** @param {import("playwright-core").Locator} button */
    const saved = async (button) => {
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
    };
    const plot = page.locator('figure.plot:has(.canvas[aria-label^="Flow completion times of"])');
    const svg = await saved(plot.getByRole("button", { name: "SVG" }));
    assert.match(svg.name, /^Flow-completion-times.*\.svg$/);
    assert.match(svg.content.toString(), /^<svg xmlns=.*flow completion time/s);
    const png = await saved(plot.getByRole("button", { name: "PNG" }));
    assert.equal(png.content.subarray(1, 4).toString(), "PNG");
    const csv = await saved(plot.getByRole("button", { name: "CSV" }));
    assert.match(csv.content.toString(), /^line,flow completion time \(ns\),flows complete \(%\)\r\n68 MiB,\d+/);
    await plot.getByRole("button", { name: "Table" }).click();
    assert.ok((await plot.locator("tbody tr").count()) > 4);
    // Cells of links: all numbers of each as a table, and a file that stands alone.
    const links = page.locator('figure.plot:has(.canvas[aria-label^="NIC → leaf"])');
    assert.match((await saved(links.getByRole("button", { name: "SVG" }))).content.toString(), /^<svg xmlns=.*fill="rgb\(/s);
    const cells = (await saved(links.getByRole("button", { name: "CSV" }))).content.toString();
    assert.match(cells, /^row,cell,rate \(bit\/s\),Utilisation \(%\),Paused \(ns\),Dropped \(frames\),Deepest queue \(bytes\)\r\nleaf0,host0:0 → leaf0,400000000000,[\d.]+,\d+/);
    // The first rows of a table, which stands for all of them.
    const chunks = page.locator(".part:has(#part-chunks)");
    await chunks.getByRole("table").getByRole("row").nth(3).waitFor();
    assert.match((await saved(chunks.getByRole("button", { name: "CSV" }))).content.toString(), /^job_name,chunk,src_rank,dst_rank,fct_ns/);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("can be used without a pointer from top to bottom", async () => {
    const { page } = await open(file);
    const names = new Set();
    for (let stop = 0; stop < 120; stop += 1) {
      await page.keyboard.press("Tab");
      names.add(await page.evaluate(() => document.activeElement?.tagName.toLowerCase()));
    }
    for (const name of ["a", "div", "button", "select", "summary"]) assert.ok(names.has(name), name);
    await page.close();
  });

  it("fits the window of a telephone, with names that can be read", async () => {
    const { page } = await open(file);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator("figure.plot svg").first().waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    // A chunk and what befell it stand in a few lines, and the table is scrolled instead.
    const widths = await page.locator("td.words").evaluateAll((cells) => cells.filter((cell) => cell.checkVisibility()).map((cell) => cell.getBoundingClientRect().width));
    assert.ok(widths.length > 0 && widths.every((width) => width > 100), widths.join(", "));
    await page.close();
  });

  it("fits on paper", async () => {
    const { page } = await open(file, "dark");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(ground, "rgb(255, 255, 255)");
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await page.close();
  });
});

describe("the report of names that are code", () => {
  it("shows them as text", async () => {
    const text = `
name: ${JSON.stringify(HOSTILE)}
fabric: {kind: single-switch, hosts: 4}
jobs:
  - name: ${JSON.stringify(HOSTILE_JOB)}
    ranks: 4
    collectives: [{collective: all-to-all, algorithm: parallel, size: 1MiB}]
`;
    workplace.trial("hostile", { text });
    const { page, complaints } = await open(workplace.report("hostile.html", "hostile"));
    assert.equal(await page.locator("h1").textContent(), HOSTILE);
    assert.match(await page.title(), /^<\/script><script>/);
    assert.ok((await page.locator("h2").allTextContents()).some((text) => text.startsWith(HOSTILE_JOB)));
    assert.equal(await page.evaluate(() => "hacked" in window), false);
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of two trials, one of 512 ranks", () => {
  it("stays small, and has both, and the two side by side", async () => {
    const text = `
name: large
fabric: {kind: leaf-spine, leaves: 32, hosts_per_leaf: 16, spines: 16, load_balancing: {kind: ecmp}}
jobs:
  - name: training
    ranks: 512
    collectives:
      - {collective: all-reduce, algorithm: ring, size: 2MiB}
      - {collective: all-to-all, algorithm: parallel, size: 2MiB}
observe: {sample_interval: 10us}
`;
    workplace.trial("large", { text });
    workplace.trial("small", { text: text.replaceAll("512", "16").replace("name: large", "name: small") });
    const file = workplace.report("both.html", "large", "small");
    const size = statSync(file).size;
    assert.ok(size < SIZE_LIMIT, `${size} bytes`);
    const { page, complaints } = await open(file);
    assert.equal(await page.locator("h1").textContent(), "Compare");
    assert.ok((await page.locator('table[data-table="compare"] tbody tr').count()) > 4);
    await page.getByText("Queues over time").first().waitFor();
    const side = page.locator(".side");
    for (const name of ["large", "small", "Compare"]) {
      await side.getByRole("link", { name, exact: true }).click();
      await settled(page);
      assert.equal(await page.locator("h1").textContent(), name);
      for (const one of (await drawings(page)).filter((one) => one.name !== "Time axis")) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      const ids = await page.$$eval("[id]", (all) => all.map((one) => one.id));
      assert.equal(new Set(ids).size, ids.length, "every id is there once");
      assert.deepEqual(await barriers(page), []);
    }
    assert.doesNotMatch(readFileSync(file, "utf8"), /(src|href)="(https?:)?\/\//);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of studies", () => {
  /** @type {string} */
  let file;
  before(() => {
    workplace.studies("studies", "evolved-ethernet/degraded", "methodology/jct-2", "methodology/lb-2");
    file = workplace.report("studies.html", "studies");
  });

  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    it(`draws bars and verdicts without a complaint, ${scheme}`, async () => {
      const { page, complaints } = await open(file, scheme);
      assert.equal(await page.locator("h1").textContent(), "Studies");
      assert.equal(await page.locator("main tbody tr").count(), 3);
      await page.getByRole("main").getByRole("link", { name: "evolved-ethernet/degraded" }).click();
      await settled(page);
      const all = await drawings(page);
      assert.equal(all.length, 1, all.map((one) => one.name).join("; "));
      for (const one of all) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      // Three groups, each with a bar for every fabric, in its colour.
      const bars = page.locator("figure.plot").first().locator("rect.bar");
      const fills = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute("fill")));
      const fabrics = fills.length / 3;
      assert.ok(fabrics >= 9 && Number.isInteger(fabrics), `${fabrics} fabrics`);
      assert.deepEqual(fills.slice(0, fabrics), fills.slice(fabrics, 2 * fabrics));
      assert.ok(new Set(fills).size >= 8, "each fabric has a colour");
      const colours = await page.$$eval("td .state", (marks) => marks.map((mark) => getComputedStyle(mark).color));
      assert.ok(new Set(colours).size >= 2, "a match does not look like a miss");
      assert.deepEqual(await barriers(page), []);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
      const ids = await page.$$eval("[id]", (marks) => marks.map((one) => one.id));
      assert.equal(new Set(ids).size, ids.length, "every id is there once");
      await page.locator(".side").getByRole("link", { name: "methodology/lb-2" }).click();
      await settled(page);
      assert.ok((await page.locator(".whisker").count()) > 0, "error bars where there are several seeds");
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  const DEGRADED = "#/studies/evolved-ethernet%2Fdegraded";

  it("keeps what is written on bars and below them apart", async () => {
    const { page } = await open(file, "light", DEGRADED);
    assert.deepEqual(await overlaps(page, ".canvas svg", "text", 2), []);
    await page.close();
  });

  it("shows values under the pointer and under the arrow keys", async () => {
    const { page, complaints } = await open(file, "light", DEGRADED);
    const tip = page.locator(".tip");
    await page.locator("rect.bar").first().hover();
    assert.match((await tip.textContent()) ?? "", /all links whole, ECMP\njob-jct\nmeasured 1\.\d+/);
    await page.locator(".canvas").first().focus();
    const reached = new Set();
    for (let step = 0; step < 140; step += 1) {
      await page.keyboard.press("ArrowDown");
      if (await tip.count()) reached.add(((await tip.textContent()) ?? "").split("\n")[0]);
    }
    assert.ok([...reached].some((text) => /one link at half rate/.test(text)), [...reached].join("; "));
    await page.keyboard.press("Escape");
    assert.equal(await tip.count(), 0);
    await page.locator("details summary").first().click();
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("what the trials of a study recorded", () => {
  it("is drawn line beside line: queues of two mechanisms, and completion times", async () => {
    workplace.studies("recorded", "remote-pfc/testbed");
    const { page, complaints } = await open(workplace.report("recorded.html", "recorded"));
    const charts = page.locator("section:has(> h2:text-is(\"What the trials recorded\")) figure.plot");
    assert.equal(await charts.count(), 4);
    for (const one of await drawings(page)) {
      assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
    }
    // Three ports with two mechanisms: a colour for each port, dashes for the second mechanism.
    const queues = charts.first().locator("g[clip-path] path");
    assert.equal(await queues.count(), 6);
    const looks = await queues.evaluateAll((lines) =>
      lines.map((line) => `${line.getAttribute("stroke")} ${line.getAttribute("stroke-dasharray") ? "dashes" : "whole"}`),
    );
    assert.equal(new Set(looks).size, 6, looks.join("; "));
    assert.equal(new Set(looks.map((look) => look.replace(/ (whole|dashes)$/, ""))).size, 3);
    // The queue between the switches: long with PFC, and next to nothing with Remote PFC.
    const [download] = await Promise.all([page.waitForEvent("download"), charts.first().getByRole("button", { name: "CSV" }).click()]);
    const rows = readFileSync(await download.path(), "utf8").split("\r\n");
    /** @param {string} name */
    const most = (name) => Math.max(...rows.filter((row) => row.startsWith(`"${name}",`)).map((row) => Number(row.split(",").pop())));
    assert.ok(most("tor1 → tor2, PFC") > 20 * most("tor1 → tor2, Remote PFC"), rows[1]);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of a fabric with optical switches", () => {
  const TREES = '.canvas svg[aria-label*="the tree and its circuits"]';
  /** @type {string} */
  let file;
  before(() => {
    const scenario = "scenarios/flexible-fat-tree.yaml";
    workplace.trial("flexible", { file: scenario });
    workplace.trial("standard", { file: scenario, set: ["fabric.circuits=none"] });
    file = workplace.report("circuits.html", "flexible", "standard");
  });

  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    it(`draws the tree before and after circuits changed, ${scheme}`, async () => {
      const { page, complaints } = await open(file, scheme);
      for (const one of await drawings(page)) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers, JSON.stringify(one));
      }
      assert.equal(await page.locator(TREES).count(), 3, "both side by side");
      await page.goto(`${pathToFileURL(file).href}#/trials/2/statistics/all`);
      await settled(page);
      assert.equal(await page.locator(TREES).count(), 0);
      await page.goto(`${pathToFileURL(file).href}#/trials/1/statistics/circuits`);
      await settled(page);
      const pictures = page.locator(TREES);
      assert.equal(await pictures.count(), 2);
      // 16 lines to the cores and 16 to the aggregation switches; then four arcs and eight dark ports.
      assert.equal(await pictures.first().locator(".link").count(), 32);
      assert.equal(await pictures.last().locator(".link").count(), 36);
      assert.equal(await pictures.last().locator("path.moved").count(), 4);
      assert.equal(await pictures.last().locator("circle.dark").count(), 4);
      // Cores of the first aggregation switches lose load, the others do not.
      const colours = await pictures
        .last()
        .locator(".link path")
        .evaluateAll((lines) => lines.map((line) => line.getAttribute("stroke")));
      assert.ok(new Set(colours).size > 2, colours.join("; "));
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("keeps boxes and what is written apart", async () => {
    const { page } = await open(file);
    assert.deepEqual(await overlaps(page, TREES, "text", 1), []);
    await page.close();
  });

  it("says under pointer and keys what a link carried", async () => {
    const { page, complaints } = await open(file, "light", "#/trials/1/statistics/circuits");
    const tip = page.locator(".tip");
    // The middle of an arc's frame is not on the arc.
    const place = await page.locator(`${TREES} path.moved`).first().evaluate((arc) => {
      arc.scrollIntoView({ block: "center", behavior: "instant" });
      const path = /** @type {SVGPathElement} */ (arc);
      const middle = path.getPointAtLength(path.getTotalLength() / 2);
      const { x, y } = middle.matrixTransform(path.getScreenCTM() ?? undefined);
      return { x, y };
    });
    await page.mouse.move(place.x, place.y);
    assert.match((await tip.textContent()) ?? "", /leaf\d – leaf\d\n1 circuit, moved here, 100.Gb\/s\nleaf\d → leaf\d: [\d.]+ % busy/);
    await page.mouse.move(0, 0);
    await page.locator(`.canvas:has(${TREES.replace(".canvas ", "")})`).first().focus();
    await page.keyboard.press("End");
    assert.match((await tip.textContent()) ?? "", /core3/);
    await page.keyboard.press("Escape");
    assert.equal(await tip.count(), 0);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of a training", () => {
  /** @type {string} */
  let file;
  before(() => {
    workplace.trial("training", { file: "scenarios/training-small.yaml", set: ["jobs[0].iterations=1"] });
    file = workplace.report("training.html", "training");
  });

  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    it(`draws operations, and the chain that held each collective up, ${scheme}`, async () => {
      const { page, complaints } = await open(file, scheme);
      const all = await drawings(page);
      for (const one of all.filter((one) => one.name !== "Time axis")) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      const names = all.map((one) => one.name);
      for (const name of ["Operations of ranks over time", "Parts of the completion time", "The chunks of the chain over time"]) {
        assert.ok(names.includes(name), `${name} is not among ${names.join("; ")}`);
      }
      // Eight ranks with a lane for computing and each parallelism, and what each colour means.
      const written = await page.locator(".part:has(#part-operations) .canvas text").allTextContents();
      assert.equal(written.filter((text) => /^rank \d+$/.test(text)).length, 8);
      for (const text of ["compute", "TP", "PP", "DP"]) assert.equal(written.filter((one) => one === text).length, text === "compute" ? 9 : 8, text);
      assert.ok(written.includes("pipeline parallelism (PP)"));
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("says of an operation under pointer and keys what it is", async () => {
    const { page, complaints } = await open(file);
    const tip = page.locator(".tip");
    const canvas = page.locator(".part:has(#part-operations) .canvas");
    const places = await canvas.locator("svg > rect").evaluateAll((marks) =>
      marks.map((mark) => {
        const [x = 0, y = 0, width = 0, height = 0] = ["x", "y", "width", "height"].map((name) => Number(mark.getAttribute(name)));
        return { x: x + width / 2, y: y + height / 2 };
      }),
    );
    /** @type {Set<string | null>} */
    const all = new Set();
    for (const position of places.filter((_, at) => at > 3 && at % 5 === 0)) {
      await canvas.hover({ position });
      if (await tip.count()) all.add(await tip.textContent());
    }
    const texts = [...all].join("\n\n");
    assert.match(texts, /rank 0, compute \d+\n[\d.]+.[mµn]?s – [\d.]+.[mµn]?s, [\d.]+.[mµn]?s/);
    assert.match(texts, /rank \d+, send \d+ to rank \d+\n[\d.]+.[KM]iB\n/);
    assert.match(texts, /on the critical path/);
    await canvas.hover({ position: places[4] ?? { x: 0, y: 0 } });
    await canvas.focus();
    const read = new Set();
    for (let step = 0; step < 125; step += 1) {
      await page.keyboard.press("ArrowRight");
      if (await tip.count()) read.add(await tip.textContent());
    }
    assert.ok(read.size > 3, [...read].join("; "));
    await page.keyboard.press("Escape");
    assert.equal(await tip.count(), 0);
    const parts = page.locator(".canvas[aria-label^='Parts of']").first();
    await parts.hover({ position: { x: 12, y: 10 } });
    assert.match((await tip.textContent()) ?? "", /^computing or waiting at ranks: [\d.]+.[mµn]?s, [\d.]+ %$/);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of a workload of flows", () => {
  it("has completion times and slow-downs by flow size", async () => {
    workplace.trial("flows", { file: "scenarios/flow-load.yaml" });
    const { page, complaints } = await open(workplace.report("flows.html", "flows"));
    const section = page.locator("section", { has: page.getByRole("heading", { level: 2, name: /^hadoop: flow completion times by size/ }) }).last();
    assert.equal(await section.locator("tbody tr").count(), 11, "all flows, and ten tenths");
    assert.equal(await page.locator('figure.plot:has(.canvas[aria-label^="Slowdown of the flows"]) .legend button').count(), 4);
    // The rows in another order, and only those with a word.
    const column = (/** @type {number} */ at) => section.locator("tbody tr").evaluateAll((rows, at) => rows.map((row) => row.children[at]?.textContent ?? ""), at);
    const sorter = section.getByRole("button", { name: "flows up to" });
    const before = await column(0);
    await sorter.click();
    await sorter.click();
    const after = await column(0);
    assert.deepEqual([...after].sort(), [...before].sort());
    assert.notDeepEqual(after, before);
    assert.equal(await section.locator("th[aria-sort=descending]").count(), 1);
    await section.getByRole("searchbox").fill("all");
    assert.deepEqual(await column(0), ["all"]);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});
