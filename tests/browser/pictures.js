// @ts-check
// Makes the pictures of README.md anew, each a drawing of a report on what its commands have left:
//   node pictures.js
// `pictures.test.js` compares them, and what pages show below their commands with what the commands print.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.js";
import { Workplace } from "./make-trials.js";

export const ROOT = resolve(import.meta.dirname, "../..");
export const IMAGES = join(ROOT, "docs/images");
/** The window whose width drawings take. */
const WINDOW = { width: 1000, height: 800 };

/** @typedef {{ of: string[], hash?: string, title: string }} Drawing a drawing of the report on some folders, by the page of the report and its title */

/** @type {Record<string, Drawing>} */
const DRAWINGS = {
  "which-fabric.svg": { of: ["sweeps/which-fabric"], title: "time of a step of each point" },
  "slow-link.svg": { of: ["sweeps/slow-link"], title: "time of a step of each point" },
  "trace.svg": { of: ["trials/trace"], hash: "#/trials/1/statistics/operations", title: "step, iteration 0" },
  "neighbour.svg": { of: ["sweeps/neighbour"], title: "time of a step of each point" },
  "how-many-spines.svg": { of: ["sweeps/how-many-spines"], title: "time of a step over spines" },
};

/** The two trials of the first picture, whose uplinks stand beside each other, with their titles. */
const TRIALS = { ecmp: "ECMP", spray: "packet spray" };
const UPLINKS = "leaf → spine";

/**
 * The commands of a page in blocks marked `console`, each with the output that the page shows below it.
 * @param {string} page
 * @returns {{ words: string[], shown: string[] }[]}
 */
function commands(page) {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```console\n([^]*?)^```/gm)].flatMap(([, block = ""]) =>
    block
      .replaceAll("\\\n", "")
      .split(/^\$ tenter /m)
      .slice(1)
      .map((one) => {
        const [command = "", ...shown] = one.trimEnd().split("\n");
        const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? "");
        return { words, shown };
      }),
  );
}

/** A line with one blank where it has several, since the widths of columns depend on rows that the page leaves out. @param {string} line */
const plain = (line) => line.trim().replaceAll(/\s+/g, " ");

/** The pages of the documentation that show what a command prints, besides README.md. */
export function showing() {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  return pages.map((name) => `docs/${name}`).filter((page) => commands(page).some(({ shown }) => shown.length > 0));
}

/**
 * Saves drawings of a report as its readers do.
 * @param {import("playwright-core").Browser} browser
 * @param {string} file of the report
 * @param {string} hash
 * @param {string} title
 */
async function drawing(browser, file, hash, title) {
  const page = await browser.newPage({ viewport: WINDOW, colorScheme: "light" });
  await page.goto(pathToFileURL(file).href + hash);
  const figure = page.locator("figure.plot").filter({ has: page.getByText(title, { exact: true }) }).first();
  const [saved] = await Promise.all([page.waitForEvent("download"), figure.getByRole("button", { name: "SVG", exact: true }).click()]);
  const svg = readFileSync(await saved.path(), "utf8");
  await page.close();
  return svg;
}

/**
 * The uplinks of two trials beside each other, each with its completion time.
 * @param {string[]} drawings
 * @param {string[]} titles
 */
function beside(drawings, titles) {
  const [, height] = /height="(\d+)"/.exec(drawings[0] ?? "") ?? [];
  // The cells take the left half of a drawing that is as wide as the window.
  const width = 374;
  const part = (/** @type {string} */ svg, /** @type {number} */ at) =>
    `<text x="${at * width + 82}" y="20" font-size="15" font-weight="600" fill="#1b2430">${titles[at]}</text>` +
    svg.replace(/^<svg [^>]*viewBox="[^"]*"/, `<svg x="${at * width}" y="28" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${2 * width}" height="${Number(height) + 28}" font-family="system-ui, sans-serif" role="img"` +
    ` aria-label="${titles.join("; ")}" style="background:#ffffff">${drawings.map(part).join("")}</svg>`
  );
}

/**
 * Runs the commands of a page, one after the other.
 * @param {Workplace} workplace
 * @param {string} page
 * @returns {string[]} the lines that the page shows, and the commands do not print
 */
export function run(workplace, page) {
  symlinkSync(join(ROOT, "scenarios"), join(workplace.folder, "scenarios"));
  return commands(page).flatMap(({ words, shown }) => {
    const printed = workplace.tenter(...words).split("\n").map(plain);
    const missing = shown.map(plain).filter((line) => !["", "…"].includes(line) && !printed.includes(line));
    return missing.map((line) => `tenter ${words.join(" ")}: ${line}`);
  });
}

/**
 * The pictures, after the commands of the page have run.
 * @param {Workplace} workplace
 * @returns {Promise<Map<string, string>>} by their files
 */
export async function pictures(workplace) {
  const browser = await launch();
  /** @type {Map<string, string>} */
  const made = new Map();
  const uplinks = workplace.report("first.html", ...Object.keys(TRIALS).map((trial) => `trials/${trial}`));
  const hashes = Object.keys(TRIALS).map((_, at) => `#/trials/${at + 1}/statistics/links`);
  const drawn = await Promise.all(hashes.map((hash) => drawing(browser, uplinks, hash, UPLINKS)));
  const titles = Object.entries(TRIALS).map(([trial, title]) => {
    const { jobs } = JSON.parse(readFileSync(join(workplace.folder, "trials", trial, "summary.json"), "utf8"));
    return `${title}: ${Math.round(jobs[0].jct_ns / 1000)} µs`;
  });
  made.set("uplinks.svg", beside(drawn, titles));
  for (const [name, { of, hash = "", title }] of Object.entries(DRAWINGS)) {
    made.set(name, await drawing(browser, workplace.report(`${name}.html`, ...of), hash, title));
  }
  await browser.close();
  return made;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const workplace = new Workplace();
  run(workplace, "README.md");
  mkdirSync(IMAGES, { recursive: true });
  for (const [name, svg] of await pictures(workplace)) writeFileSync(join(IMAGES, name), `${svg}\n`);
  workplace.remove();
}
