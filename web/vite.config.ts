import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const SERVER = process.env["TENTER_UI"] ?? "http://127.0.0.1:8427";

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

/** Writes the licences of the packages that are in the page beside it. */
function notices(): Plugin {
  return {
    name: "notices",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const module of Object.keys(file.modules)) {
          const folder = packageOf(module);
          if (folder) folders.add(folder);
        }
      }
      const texts = [...folders].sort().map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const licence = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
        if (!licence) throw new Error(`${name} has no file with its licence`);
        return `${name} ${version} (${license})\n\n${readFileSync(join(folder, licence), "utf8").trim()}\n`;
      });
      const head = "The page of Tenter's workspace contains these packages.\n";
      this.emitFile({ type: "asset", fileName: "third-party.txt", source: [head, ...texts].join(`\n${"-".repeat(78)}\n\n`) });
    },
  };
}

export default defineConfig({
  plugins: [react(), notices()],
  build: {
    outDir: "../crates/tenter-server/page",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1024,
    assetsInlineLimit: 0,
  },
  // `npm run dev` shows changes at once, with the data of a `tenter ui` that runs beside it; the server
  // takes requests from its own page alone.
  server: {
    proxy: {
      "/api": {
        target: SERVER,
        changeOrigin: true,
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("Origin", SERVER)),
      },
    },
  },
});
