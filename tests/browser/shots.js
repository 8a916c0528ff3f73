// @ts-check
// Takes pictures of a report, for those who change how it looks:
//   node shots.js REPORT.html FOLDER
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";

const [report, folder] = process.argv.slice(2);
if (!report || !folder) {
  console.error("usage: node shots.js REPORT.html FOLDER");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await launch();
const views = [1280, 390].flatMap((width) => (/** @type {const} */ (["light", "dark"])).map((colorScheme) => ({ width, colorScheme })));
for (const { width, colorScheme } of views) {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
  await page.goto(pathToFileURL(resolve(report)).href);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let at = 0, number = 1; at < height; at += 800, number += 1) {
    await page.evaluate((top) => window.scrollTo({ top, behavior: "instant" }), at);
    await page.screenshot({ path: `${folder}/${width}-${colorScheme}-${String(number).padStart(2, "0")}.png` });
  }
  await page.close();
}
const page = await browser.newPage();
await page.goto(pathToFileURL(resolve(report)).href);
await page.pdf({ path: `${folder}/print.pdf`, format: "A4", printBackground: true, margin: { top: "15mm", bottom: "15mm", left: "15mm", right: "15mm" } });
await browser.close();
