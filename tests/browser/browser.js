// @ts-check
// The browser of this machine.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where Chromium is: `CHROMIUM` says so, or it is found on the `PATH`. */
export function executable() {
  const named = process.env["CHROMIUM"];
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`CHROMIUM says ${named}, which is not there; name a Chromium that is`);
  }
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const places = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  throw new Error(
    "no Chromium is on the PATH: install it (Debian: apt-get install chromium), or set CHROMIUM to its executable",
  );
}

/** A browser without a window. */
export function launch() {
  // Without the sandbox, which a container that runs as root does not have.
  return chromium.launch({ executablePath: executable(), args: ["--no-sandbox"] });
}
