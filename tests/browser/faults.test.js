// @ts-check
// The workspace where something goes wrong: unlike trials side by side, a server that is killed, answers that cannot be drawn.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./browser.js";
import { openPage, Server } from "./workspace.js";

/** @type {Awaited<ReturnType<typeof launch>>} */
let browser;
/** @type {Server} */
let server;
/** @type {import("playwright-core").Page} */
let page;

before(async () => {
  server = new Server();
  await server.start(["--jobs", "2", "--threads", "1"]);
  browser = await launch();
  ({ page } = await openPage(browser, server));
  page.setDefaultTimeout(20_000);
});
after(async () => {
  await browser?.close();
  await server?.remove();
});

/**
 * @param {string} path
 * @param {unknown} [body]
 */
async function request(path, body) {
  const own = { Authorization: `Bearer ${server.token}` };
  const posted = { method: "POST", headers: { ...own, "Content-Type": "application/json", Origin: server.url }, body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}/api/v1${path}`, body === undefined ? { headers: own } : posted);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return /** @type {any} */ (await answer.json());
}

/** @param {number} id @param {string} state */
async function until(id, state) {
  for (;;) {
    const trial = await request(`/trials/${id}`);
    if (trial.state === state) return trial;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** @param {string} name @param {string} jobs @param {number} [spines] */
const scenario = (name, jobs, spines = 2) =>
  `name: ${name}\nfabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: ${spines}}\njobs: [${jobs}]\n`;
/** @param {string} name @param {string} collective @param {string} size */
const job = (name, collective, size) => `{name: ${name}, collectives: [{collective: ${collective}, size: ${size}}]}`;
/** Hours of work. @param {string} name */
const long = (name) => scenario(name, "{name: endless, iterations: 1000000, gap: 2us, collectives: [{collective: all-to-all, size: 256KiB}]}") + "observe: {sample_interval: 10us}\n";

/** @param {string} name */
const link = (name) => page.getByRole("link", { name, exact: true });
/** @param {string} name */
const heading = (name) => page.getByRole("heading", { level: 1, name, exact: true });
/** @param {string} selector */
const cells = (selector) => page.locator(selector).evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td, th")].map((cell) => /** @type {HTMLElement} */ (cell).innerText.trim())));

describe("the workspace where something goes wrong", { timeout: 170_000 }, () => {
  it("keeps the numbers of unlike trials under their trial", async () => {
    const ids = [];
    for (const text of [
      scenario("ecmp", job("a2a", "all-to-all", "1MiB")),
      scenario("unlike", job("gather", "all-gather", "2MiB")),
      scenario("spray", job("a2a", "all-to-all", "1MiB"), 1),
    ]) {
      const { id } = await request("/trials", { tags: [], text });
      await until(id, "done");
      ids.push(id);
    }
    const [ecmp, unlike, spray] = ids;
    /** A time as the page shows it. @param {number} id */
    const time = async (id) => {
      const ns = (await request(`/trials/${id}`)).jct_ns;
      return `${new Intl.NumberFormat("en", { maximumSignificantDigits: 5 }).format(ns / 1e3)}\u00a0µs`;
    };
    for (const order of [[ecmp, unlike, spray], [unlike, ecmp], [spray, unlike, ecmp]]) {
      await page.goto(`${server.url}/#/compare?ids=${order.join(",")}`);
      await page.waitForFunction((count) => document.querySelectorAll('table[data-table="compare"] thead th').length === count, order.length + 2);
      const [heads = []] = await cells('table[data-table="compare"] thead tr');
      const rows = (await cells('table[data-table="compare"] tbody tr')).filter((row) => row[1] === "time");
      for (const [at, id] of order.entries()) {
        const name = heads[at + 2];
        const shown = rows.map((row) => row[at + 2]).filter((cell) => cell !== "—");
        assert.equal(shown.length, 1, `${name} has one time: ${JSON.stringify(rows)}`);
        assert.ok(shown[0]?.startsWith(await time(id)), `${name} took ${await time(id)}, not ${shown[0]}`);
      }
    }
  });

  it("goes on where an answer cannot be drawn", async () => {
    await page.route("**/api/v1/studies", (route) => route.fulfill({ json: [null] }));
    await link("Studies").click();
    await page.getByText("This page could not be drawn").waitFor();
    await page.unroute("**/api/v1/studies");
    await link("Workspace").click();
    await heading("Workspace").waitFor();
    await link("Studies").click();
    await heading("Studies").waitFor();
    await page.getByText("nothing required").first().waitFor();
    const vacuous = await cells("main table tbody tr");
    assert.ok(vacuous.some((row) => row[0]?.endsWith("jct-4") && row[6] === "nothing required"), JSON.stringify(vacuous.slice(0, 3)));
  });

  it("lists both trials that run side by side as running", async () => {
    const first = (await request("/trials", { tags: [], text: long("first") })).id;
    const second = (await request("/trials", { tags: [], text: long("second") })).id;
    await request("/trials", { tags: [], text: long("third") });
    await until(first, "running");
    await until(second, "running");
    await link("Run").click();
    await page.getByText(/^Up to 2 trials run side by side/).waitFor();
    /** @param {string} title */
    const listed = (title) => page.locator("section", { has: page.getByRole("heading", { name: title, exact: true }) }).locator("tbody tr");
    await listed("Also running").getByText("second").waitFor();
    await listed("Waiting").getByText("third").waitFor();
    assert.equal(await listed("Waiting").count(), 1);
    // What they record reaches their files in batches.
    await new Promise((done) => setTimeout(done, 5000));
  });

  it("stays usable when its server is killed, and goes on with the next one", async () => {
    await page.goto(`${server.url}/#/`);
    await page.reload();
    await heading("Workspace").waitFor();
    await server.stop("SIGKILL");
    await link("Configure").click();
    await page.getByText("This page could not be fetched").waitFor();
    // The other pages are there, and say what is wrong.
    await link("Run").click();
    await heading("Run").waitFor();
    await page.getByText("the server does not answer").first().waitFor();
    await page.goto(`${server.url}/#/sweeps/new`);
    await page.getByText("This page could not be fetched").waitFor();
    await page.getByRole("button", { name: "Load again" }).click();
    await page.getByText("The server does not answer.").waitFor();
    await server.start(["--jobs", "1"], new URL(server.url).port);
    // It has a token of its own, which comes with the address that it prints.
    const entered = await page.context().newPage();
    await entered.goto(server.entrance);
    await entered.waitForURL(`${server.url}/`);
    await entered.close();
    await page.getByRole("button", { name: "Load again" }).click();
    await heading("New sweep").waitFor();
    await link("Configure").click();
    await heading("Configure").waitFor();
  });

  it("shows what an interrupted trial has recorded", async () => {
    const { rows } = await request("/trials?state=interrupted");
    assert.equal(rows.length, 2, "both that were running");
    for (const tab of ["ports", "queues", "timeline", "chunks"]) {
      await page.goto(`${server.url}/#/trials/${rows[0].id}/statistics/${tab}`);
      await heading("Statistics").waitFor();
      await page.waitForFunction(() => !document.querySelector("main")?.innerText.includes("Loading…"));
      assert.equal(await page.getByText("The trial left no tables").count(), 0, tab);
    }
    await page.goto(`${server.url}/#/trials/${rows[0].id}/statistics/queues`);
    await page.locator("figure.plot svg").first().waitFor();
    await page.goto(`${server.url}/#/trials/${rows[0].id}/statistics/chunks`);
    await page.getByRole("table", { name: "Table flows" }).getByRole("row").nth(5).waitFor();
  });
});
