// @ts-check
// Takes pictures of each page of the workspace at 1280 and 390 pixels, light and dark, for those who change how it looks:
//   node ui-shots.js FOLDER [URL]
// URL is the whole address that `tenter ui` has printed. Without it this starts a server and runs the trials that the pictures show.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.js";
import { Server } from "./workspace.js";

const [folder, given] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node ui-shots.js FOLDER [URL]");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const server = new Server();
if (!given) await server.start();
const entrance = given ?? server.entrance;
const { origin: url, searchParams } = new URL(entrance);
const own = { "Content-Type": "application/json", Origin: url, Authorization: `Bearer ${searchParams.get("token")}` };

/**
 * @param {string} path
 * @param {unknown} [body]
 */
async function request(path, body) {
  const answer = await fetch(`${url}/api/v1${path}`, body === undefined ? { headers: own } : { method: "POST", headers: own, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return /** @type {any} */ (await answer.json());
}

/** A fabric of 64 NICs under an all-to-all and a ring, with what differs. @param {string} name @param {string} fabric @param {string} [endpoint] */
const scenario = (name, fabric, endpoint = "") => `name: ${name}
fabric:
${fabric}${endpoint}
jobs:
  - name: all-to-all
    ranks: [0-31]
    collectives:
      - {collective: all-to-all, sizes: {start: 1MiB, multiplier: 2, end: 16MiB}}
  - name: ring
    ranks: [32-63]
    collectives:
      - {collective: all-reduce, algorithm: ring, size: 16MiB}
`;
const LEAF_SPINE = `  kind: leaf-spine
  leaves: 8
  hosts_per_leaf: 8
  spines: 4
  links_per_pair: 2
`;
/** Scenarios of the repository, by their tags where these are not their names. @type {Record<string, string>} */
const FILES = { training: "training-small", inference: "inference-small", flows: "flow-workload" };
/** @param {string} name */
const example = (name) => readFileSync(new URL(`../../scenarios/${name}.yaml`, import.meta.url), "utf8");
const TRIALS = [
  { tags: ["ecmp", "baseline"], text: scenario("ECMP, lossless", `${LEAF_SPINE}  flow_control: pfc+ecn\n`) },
  {
    tags: ["spray"],
    text: scenario("packet spray", `${LEAF_SPINE}  load_balancing: {kind: random-spray}\n`, "endpoint: {nic: {loss_recovery: {kind: selective-repeat, reorder: 64}}}\n"),
  },
  ...["training", "inference", "flows", "incast"].map((tag) => ({ tags: [tag], text: example(FILES[tag] ?? tag) })),
  { tags: ["scheduled"], text: scenario("scheduled fabric", `${LEAF_SPINE}  switching: {kind: scheduled}\n`) },
];

/** @type {number[]} */
const ids = [];
if ((await request("/trials")).total === 0) {
  for (const trial of TRIALS) ids.push((await request("/trials", trial)).id);
  for (;;) {
    const { rows } = await request("/trials");
    if (rows.every((/** @type {any} */ row) => !["queued", "running"].includes(row.state))) break;
    await new Promise((done) => setTimeout(done, 300));
  }
} else {
  for (const row of (await request("/trials?sort=created&order=asc")).rows) ids.push(row.id);
}
const [first = 1] = ids;
/** The trial of a tag. @param {string} tag */
const tagged = (tag) => ids[TRIALS.findIndex(({ tags }) => tags.includes(tag))] ?? first;
const training = tagged("training");
await fetch(`${url}/api/v1/trials/${first}`, {
  method: "PATCH",
  headers: own,
  body: JSON.stringify({
    note: "# ECMP against packet spray\n\n- The **hash** puts up to three flows on one uplink: the tail of the all-to-all is that of its worst uplink.\n- PFC keeps it lossless, at the price of pauses at the NICs.\n\n![Flow completion time, tail](plot:tail?of=fct)\n",
  }),
});

const SWEEP = "name: uplinks\nvariants:\n  ecmp: {}\n  spray:\n    fabric.load_balancing: {kind: random-spray}\n    endpoint.nic.loss_recovery: {kind: selective-repeat, reorder: 64}\naxes:\n  fabric.uplink_rate: [100Gbps, 200Gbps, 400Gbps]\nseeds: 3\n";
if ((await request("/sweeps")).length === 0) await request("/sweeps", { text: SWEEP, scenario: TRIALS[0]?.text });
while (["queued", "running"].includes((await request("/sweeps/1")).state)) await new Promise((done) => setTimeout(done, 300));
const swept = (await request("/sweeps/1")).rows[0]?.trial;

/** Runs for longer than pictures take. */
const LONG = `name: long\nfabric:\n${LEAF_SPINE}jobs:\n  - name: train\n    ranks: 64\n    collectives: [{collective: all-to-all, size: 16GiB}]\n`;

/** @type {[string, string][]} */
const PAGES = [
  ["workspace", "#/"],
  ["presets", "#/configure"],
  ["configure", `#/configure?trial=${first}`],
  ["mapping", "#/configure?view=mapping"],
  ["derived", "#/configure?view=derived"],
  ["run", "#/run"],
  ["summary", `#/trials/${first}/statistics`],
  ["chunks", `#/trials/${first}/statistics/chunks`],
  ["cdf", `#/trials/${first}/statistics/cdf`],
  ["ports", `#/trials/${first}/statistics/ports`],
  ["timeline", `#/trials/${first}/statistics/timeline`],
  ["queues", `#/trials/${first}/statistics/queues`],
  ["held-up", `#/trials/${first}/statistics/held-up`],
  ["operations", `#/trials/${training}/statistics/operations`],
  ...["training", "inference", "flows", "incast"].map((tag) => /** @type {[string, string]} */ ([tag, `#/trials/${tagged(tag)}/statistics`])),
  ["fabric", `#/trials/${first}/fabric`],
  ["notebook", `#/trials/${first}/notebook`],
  ["compare", `#/compare?ids=${ids.slice(0, 3).join(",")}`],
  ["sweeps", "#/sweeps"],
  ["sweep", "#/sweeps/1"],
  ["swept", `#/trials/${swept}/statistics`],
  ["new-sweep", "#/sweeps/new"],
  ["studies", "#/studies"],
  ["study", `#/studies/${encodeURIComponent("methodology/jct-2")}`],
];

const browser = await launch();
for (const width of [1280, 390]) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    page.on("pageerror", (error) => console.error(String(error)));
    await page.goto(entrance);
    await page.waitForURL(`${url}/`);
    for (const [name, address] of PAGES) {
      await page.goto(`${url}/${address}`);
      await page.waitForTimeout(900);
      await page.waitForFunction(() => !document.querySelector("main")?.innerText.includes("Loading…"), undefined, { timeout: 20_000 }).catch(() => undefined);
      const high = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      if (high) console.error(`${name} at ${width} pixels is wider than the window`);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    }
    const { id } = await request("/trials", { tags: [], text: LONG });
    await page.goto(`${url}/#/run/${id}`);
    await page.waitForTimeout(6_000);
    await page.screenshot({ path: join(folder, `live-${width}-${colorScheme}.png`), fullPage: true });
    await request(`/trials/${id}/cancel`, {});
    await context.close();
  }
}
await browser.close();
if (!given) await server.remove();
