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
  const result = page.locator(".md-search-result__link", { hasText: /PFC/ }).first();
  await result.waitFor({ timeout: 20_000 });
  const href = await result.getAttribute("href");
  assert.match(href ?? "", /\.html/);
  await page.goto(new URL(href ?? "", `${address}/index.html`).toString());
  const text = await page.locator("article").innerText();
  assert.match(text, /headroom/i);
  assert.deepEqual(elsewhere, [], "no page asks another server");
  await page.close();
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
