// @ts-check
// The documentation site: its pages open without another server, and its search finds words.
import assert from "node:assert/strict";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "../browser.js";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const SITE = join(process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target"), "site");
/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname));
  const file = join(SITE, path.endsWith("/") ? `${path}index.html` : path);
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
});

/** @type {import("playwright-core").Browser} */
let browser;
let address = "";

before(async () => {
  assert.ok(existsSync(join(SITE, "index.html")), "build the site first: make docs");
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  address = `http://127.0.0.1:${bound.port}`;
  browser = await launch();
});

after(async () => {
  await browser.close();
  server.close();
});

test("the search finds headroom", async () => {
  const page = await browser.newPage();
  /** @type {string[]} */
  const elsewhere = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(address)) elsewhere.push(request.url());
  });
  await page.goto(`${address}/index.html`);
  await page.locator("input.md-search__input").first().fill("headroom");
  const result = page.locator(".md-search-result__item > a", { hasText: /PFC/ }).first();
  await result.waitFor({ timeout: 20_000 });
  const href = await result.getAttribute("href");
  assert.match(href ?? "", /\.html/);
  await page.goto(new URL(href ?? "", `${address}/index.html`).toString());
  const text = await page.locator("article").innerText();
  assert.match(text, /headroom/i);
  assert.deepEqual(elsewhere, [], "no page asks another server");
  await page.close();
});

/** What users type, and a page that answers it, which must be among the first results. @type {[string, RegExp][]} */
const QUESTIONS = [
  ["install", /index|packages/],
  ["first trial", /tutorial/],
  ["why is my job slow", /slow-job/],
  ["how large must the fabric be", /size-a-fabric/],
  ["ECN thresholds", /buffers-and-ecn|ecn/],
  ["PFC headroom", /pfc|buffers/],
  ["Kineto trace", /kineto|read-a-trace/],
  ["Chakra", /chakra/],
  ["Ultra Ethernet", /ultra-ethernet/],
  ["scheduled fabric credits", /scheduled-fabric/],
  ["nccl-tests log", /calibrate|bench|report/],
  ["time to first token", /inference|serve/],
  ["write a load balancer", /extending|plug-in/],
  ["packet spray reorder", /spray|selective-repeat/],
  ["DCQCN parameters", /dcqcn/],
  ["exit code 130", /exit-codes/],
  ["SONiC config_db", /sonic/],
  ["flapping link", /faults/],
  ["compare two trials", /report|tutorial|workspace/],
  ["power of a switch", /power/],
  ["htsim", /peers|topo|flows/],
];

test("the search answers what users type", async () => {
  const page = await browser.newPage();
  await page.goto(`${address}/index.html`);
  const input = page.locator("input.md-search__input").first();
  /** @type {string[]} */
  const unanswered = [];
  for (const [question, answer] of QUESTIONS) {
    // The page looks at what is typed when a key comes up.
    await input.fill("");
    await input.press("End");
    await page.waitForFunction(() => document.querySelectorAll(".md-search-result__item").length === 0);
    await input.fill(question);
    await input.press("End");
    await page.locator(".md-search-result__item").first().waitFor({ timeout: 20_000 });
    const links = page.locator(".md-search-result__item > a.md-search-result__link");
    const found = await links.evaluateAll((all) => all.slice(0, 5).map((one) => new URL(one.getAttribute("href") ?? "", document.baseURI).pathname));
    if (!found.some((path) => answer.test(path))) unanswered.push(`${question}: ${found.join(" ")}`);
  }
  assert.deepEqual(unanswered, []);
  await page.close();
});

test("llms.txt lists pages as Markdown", async () => {
  const list = await (await fetch(`${address}/llms.txt`)).text();
  const links = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+\.md)\): ./gm)].map(([, link]) => link);
  assert.ok(links.length > 100, `${links.length} pages`);
  for (const link of links) {
    const answer = await fetch(`${address}/${link}`);
    assert.equal(answer.status, 200, link);
    assert.match(await answer.text(), /^# /m, link);
  }
});

test("a page links to the code that it names", async () => {
  const page = await browser.newPage();
  await page.goto(`${address}/library.html`);
  const link = page.locator("article a", { hasText: "crates/tenter/examples" }).first();
  const href = await link.getAttribute("href");
  const answer = await page.goto(new URL(href ?? "", `${address}/library.html`).toString());
  assert.equal(answer?.status(), 200);
  assert.match(await page.locator("article").innerText(), /grid\.rs/);
  await page.close();
});
