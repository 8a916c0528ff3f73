// @ts-check
// Reports, opened in a real browser: no error, every plot drawn, and what moves moves.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";
import { Workplace } from "./make-trials.js";

const HOSTILE = "</script><script>window.hacked=1</script>";
const HOSTILE_JOB = "'><img src=x onerror=\"window.hacked=1\"></title></style>";
/** What a report of 512 ranks may have. */
const SIZE_LIMIT = 5 * 1024 * 1024;

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
 */
async function open(file, colorScheme = "light") {
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
  await page.goto(pathToFileURL(file).href);
  return { page, complaints };
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
    const shown = [...document.querySelectorAll("svg[role=img]")].filter((svg) => !svg.closest("[hidden]"));
    return shown.map((svg) => {
      const box = svg.getBoundingClientRect();
      // The script draws those in a canvas; of others the marks say something.
      const chosen = svg.closest(".canvas") ? ":not(clipPath) > :is(path, rect, polyline)" : ".m";
      const marks = [...svg.querySelectorAll(chosen)];
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
      const all = await drawings(page);
      // A distribution, a timeline, parts of the time, the fabric, four directions of links, queues as lines and
      // as colours, loads, pauses.
      assert.equal(all.length, 12, all.map((one) => one.name).join("; "));
      for (const one of all) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, scheme === "dark" ? "rgb(18, 23, 30)" : "rgb(255, 255, 255)");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("shows values under the pointer and under the arrow keys", async () => {
    const { page, complaints } = await open(file);
    const tip = page.locator("#tip");
    const canvas = (/** @type {string} */ name) => page.locator(`.canvas[aria-label^="${name}"]`);
    const bars = canvas("Chunks by sending rank");
    await bars.hover({ position: { x: 300, y: 10 } });
    assert.match((await tip.textContent()) ?? "", /rank 1\n0.*\nto rank 0\nstep 0.*complete in/s);
    await canvas("Links ").first().focus();
    await page.keyboard.press("ArrowRight");
    assert.match((await tip.textContent()) ?? "", /host0:0 → leaf0\n400.Gb\/s\nUtilisation: [\d.]+.%\nPaused: [\d.]+.[mµn]?s\nDropped: 0.frames\nDeepest queue: [\d.]+.[KM]?i?B/);
    await canvas("Flow completion times of").focus();
    await page.keyboard.press("End");
    assert.match((await tip.textContent()) ?? "", /ms\n100\u00a0%/);
    await page.keyboard.press("Escape");
    assert.equal(await tip.isHidden(), true);
    // The cable of the receiver, and what else it is asked for.
    const fabric = canvas("The fabric with the load");
    const box = await fabric.boundingBox();
    assert.ok(box);
    const over = async () => {
      const said = new Set();
      for (let x = 60; x < 300; x += 4) {
        await fabric.hover({ position: { x, y: box.height * 0.71 } });
        said.add((await tip.textContent()) ?? "");
      }
      return [...said].join("\n\n");
    };
    assert.match(await over(), /host0 – leaf0, 400.Gb\/s\nUtilisation\nhost0 → leaf0: [\d.]+.%\nleaf0 → host0: 99\.\d+.%/);
    await page.getByRole("button", { name: "Deepest queue" }).click();
    assert.match(await over(), /Deepest queue\nhost0 → leaf0: [^\n]*\nleaf0 → host0: [\d.]+.MiB/);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("switches lines off and colours links by what is asked for", async () => {
    const { page } = await open(file);
    const figure = page.locator("figure.plot:has(.legend)").first();
    const lines = figure.locator(".canvas g[clip-path] path");
    const count = await lines.count();
    const button = figure.locator(".legend button").first();
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.equal(await lines.count(), count - 1);
    const values = () =>
      page.$$eval('.canvas[aria-label^="Links "] svg > rect', (cells) => cells.map((cell) => cell.getAttribute("fill")));
    const before = await values();
    await page.getByRole("button", { name: "Paused" }).click();
    const paused = await values();
    assert.notDeepEqual(paused, before);
    // The scale of each of the four directions ends with it, and one link has it.
    const full = paused.filter((fill) => fill === "rgb(11 63 125)");
    assert.ok(full.length > 4, "the longest pause has the full colour");
    await page.close();
  });

  it("saves drawings, tells their numbers, and sorts and filters tables", async () => {
    const { page, complaints } = await open(file);
    /** @param {import("playwright-core").Locator} button */
    const saved = async (button) => {
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
    };
    const plot = page.locator("figure.plot").first();
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
    const links = page.locator('figure.plot:has(.canvas[aria-label^="Links "])').first();
    assert.match((await saved(links.getByRole("button", { name: "SVG" }))).content.toString(), /^<svg xmlns=.*fill="rgb\(/s);
    assert.equal((await saved(links.getByRole("button", { name: "PNG" }))).content.subarray(1, 4).toString(), "PNG");
    const cells = (await saved(links.getByRole("button", { name: "CSV" }))).content.toString();
    assert.match(cells, /^row,cell,rate \(bit\/s\),Utilisation \(%\),Paused \(ns\),Dropped \(frames\),Deepest queue \(bytes\)\r\nleaf0,host0:0 → leaf0,400000000000,[\d.]+,\d+/);
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

  it("fits on paper", async () => {
    const { page } = await open(file, "dark");
    await page.emulateMedia({ media: "print" });
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
    assert.ok((await page.locator("h3").allTextContents()).some((text) => text.startsWith(HOSTILE_JOB)));
    assert.equal(await page.evaluate(() => "hacked" in window), false);
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of two trials, one of 512 ranks", () => {
  it("stays small, has both, and shows one collective at a time", async () => {
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
    assert.deepEqual(await page.locator("h1").allTextContents(), ["2 trials", "large", "small"]);
    for (const one of await drawings(page)) {
      assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
    }
    // The job, two collectives and the trial as a whole, of two trials each.
    assert.equal(await page.locator("#comparison tbody tr").count(), 8);
    const first = await page.locator("#panel0-0").isVisible();
    await page.selectOption("#pick0", first ? "1" : "0");
    assert.equal(await page.locator("#panel0-0").isVisible(), !first);
    assert.equal(await page.locator("#panel0-1").isVisible(), first);
    const ids = await page.$$eval("[id]", (all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, "every id is there once");
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
      assert.equal(await page.locator("h1").first().textContent(), "3 studies");
      const all = await drawings(page);
      assert.ok(all.length >= 3, all.map((one) => one.name).join("; "));
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
      assert.ok((await page.locator(".whisker").count()) > 0, "error bars where there are several seeds");
      const colours = await page.$$eval(".verdict.match, .verdict.info", (marks) =>
        marks.map((mark) => getComputedStyle(mark).color),
      );
      assert.ok(new Set(colours).size >= 2, "a match does not look like information");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
      const ids = await page.$$eval("[id]", (marks) => marks.map((one) => one.id));
      assert.equal(new Set(ids).size, ids.length, "every id is there once");
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("keeps what is written on bars and below them apart", async () => {
    const { page } = await open(file);
    assert.deepEqual(await overlaps(page, ".canvas > svg", "text", 2), []);
    await page.close();
  });

  it("shows values under the pointer and under the arrow keys", async () => {
    const { page, complaints } = await open(file);
    const tip = page.locator("#tip");
    await page.locator("rect.bar").first().hover();
    assert.match((await tip.textContent()) ?? "", /all links whole, ECMP\njob-jct\nmeasured 1\.\d+/);
    await page.locator(".canvas").first().focus();
    const reached = new Set();
    for (let step = 0; step < 140; step += 1) {
      await page.keyboard.press("ArrowDown");
      reached.add(((await tip.textContent()) ?? "").split("\n")[0]);
    }
    assert.ok([...reached].some((text) => /one link at half rate/.test(text)), [...reached].join("; "));
    await page.keyboard.press("Escape");
    assert.equal(await tip.isHidden(), true);
    await page.locator("details summary").first().click();
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("what the trials of a study recorded", () => {
  it("is drawn line beside line: queues of two mechanisms, and completion times", async () => {
    workplace.studies("recorded", "remote-pfc/testbed");
    const { page, complaints } = await open(workplace.report("recorded.html", "recorded"));
    const charts = page.locator("#recorded0 figure.plot");
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
    const most = (/** @type {string} */ name) =>
      charts
        .first()
        .locator("script")
        .evaluate((data, name) => {
          const { series } = JSON.parse(data.textContent ?? "");
          const line = series.find((/** @type {{ name: string }} */ one) => one.name === name);
          return Math.max(...line.points.map((/** @type {number[]} */ point) => point[1]));
        }, name);
    assert.ok((await most("tor1 → tor2, PFC")) > 20 * (await most("tor1 → tor2, Remote PFC")));
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of a fabric with optical switches", () => {
  const TREES = '.canvas[aria-label*="the tree and its circuits"] > svg';
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
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      const pictures = page.locator(`#circuits0 ${TREES}`);
      assert.equal(await pictures.count(), 2);
      assert.equal(await page.locator(`#comparison ${TREES}`).count(), 3);
      assert.equal(await page.locator("#circuits1").count(), 0);
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
    const { page, complaints } = await open(file);
    const tip = page.locator("#tip");
    // The middle of an arc's frame is not on the arc.
    const place = await page.locator(`#circuits0 ${TREES} path.moved`).first().evaluate((arc) => {
      arc.scrollIntoView({ block: "center", behavior: "instant" });
      const path = /** @type {SVGPathElement} */ (arc);
      const middle = path.getPointAtLength(path.getTotalLength() / 2);
      const { x, y } = middle.matrixTransform(path.getScreenCTM() ?? undefined);
      return { x, y };
    });
    await page.mouse.move(place.x, place.y);
    assert.match((await tip.textContent()) ?? "", /leaf\d – leaf\d\n1 circuit, moved here, 100.Gb\/s\nleaf\d → leaf\d: [\d.]+ % busy/);
    await page.locator("#circuits0 .canvas").first().focus();
    await page.keyboard.press("End");
    assert.match((await tip.textContent()) ?? "", /core3/);
    await page.keyboard.press("Escape");
    assert.equal(await tip.isHidden(), true);
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
      for (const one of all) {
        assert.ok(one.area > 5_000 && one.drawn > 0 && one.numbers && one.inside, JSON.stringify(one));
      }
      const names = all.map((one) => one.name);
      for (const name of ["Operations of ranks over time", "Parts of the completion time", "The chunks of the chain over time"]) {
        assert.ok(names.includes(name), `${name} is not among ${names.join("; ")}`);
      }
      // Eight ranks with a lane for computing and each parallelism, and what each colour means.
      const written = await page.locator("#operations0 .canvas text").allTextContents();
      assert.equal(written.filter((text) => /^rank \d+$/.test(text)).length, 8);
      for (const text of ["compute", "TP", "PP", "DP"]) assert.equal(written.filter((one) => one === text).length, text === "compute" ? 9 : 8, text);
      assert.ok(written.includes("pipeline parallelism (PP)"));
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  it("says of an operation under pointer and keys what it is", async () => {
    const { page, complaints } = await open(file);
    const tip = page.locator("#tip");
    const canvas = page.locator(".canvas[aria-label^='Operations of ranks']");
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
      all.add(await tip.textContent());
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
      if (!(await tip.isHidden())) read.add(await tip.textContent());
    }
    assert.ok(read.size > 3, [...read].join("; "));
    await page.keyboard.press("Escape");
    assert.equal(await tip.isHidden(), true);
    const parts = page.locator(".panel:visible .canvas[aria-label^='Parts of']");
    await parts.hover({ position: { x: 12, y: 10 } });
    assert.match((await tip.textContent()) ?? "", /^waiting at ranks: [\d.]+.[mµn]?s, [\d.]+ %$/);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});

describe("the report of a workload of flows", () => {
  it("has completion times and slow-downs by flow size", async () => {
    workplace.trial("flows", { file: "scenarios/flow-load.yaml" });
    const { page, complaints } = await open(workplace.report("flows.html", "flows"));
    const section = page.locator("#fct0");
    assert.match((await section.locator("h3").last().textContent()) ?? "", /^hadoop by flow size/);
    assert.equal(await section.locator("tbody tr").count(), 11, "all flows, and ten tenths");
    assert.equal(await section.locator("figure.plot").last().locator(".legend button").count(), 4);
    // The rows in another order, and only those with a word.
    const column = (/** @type {number} */ at) => section.locator("tbody tr:visible").evaluateAll((rows, at) => rows.map((row) => row.children[at]?.textContent ?? ""), at);
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
