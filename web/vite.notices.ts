/** The licences of the packages that are in a bundle. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the package that a module is part of. */
function packageOf(module: string): string | undefined {
  if (!module.includes("node_modules")) return undefined;
  let folder = dirname(module.replace(/^\0/, "").replace(/\?.*$/, ""));
  while (folder !== dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version) return folder;
    folder = dirname(folder);
  }
  return undefined;
}

/** The licences of the packages of these modules, one after the other. */
export function noticesOf(modules: string[]): string {
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const licence = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (!licence) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, licence), "utf8").trim()}\n`;
  });
  return ["The page of Tenter's workspace contains these packages.\n", ...texts].join(`\n${"-".repeat(78)}\n\n`);
}
