import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { defineConfig } from "vite";

/** Bundles the unit tests, which lie beside what they test, for Node.js's own test runner. */
const tests = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => /\.test\.tsx?$/.test(file));

export default defineConfig({
  build: {
    ssr: true,
    outDir: "node_modules/.unit",
    emptyOutDir: true,
    rolldownOptions: {
      input: Object.fromEntries(tests.map((file) => [file.replace(/\.tsx?$/, "").replaceAll(sep, "-"), join("src", file)])),
    },
  },
});
