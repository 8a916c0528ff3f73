import { defineConfig, type Plugin } from "vite";
import react from "@vitejs/plugin-react";
import { noticesOf } from "./vite.notices.ts";
import { REPORT } from "./src/views.ts";

/** The addresses whose answers a report has, and the licences of the packages in its script, which stay with it. */
function beside(): Plugin {
  return {
    name: "beside",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const notices = noticesOf(chunks.flatMap((chunk) => Object.keys(chunk.modules))).replaceAll("*/", "* /");
      for (const chunk of chunks) chunk.code = `/*\n${notices}*/\n${chunk.code}`.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      this.emitFile({ type: "asset", fileName: "report.gen.json", source: `${JSON.stringify(REPORT, undefined, 1)}\n` });
    },
  };
}

// The script and the style of reports. They are committed, so that a clone without Node.js has them.
export default defineConfig({
  publicDir: false,
  plugins: [react(), beside()],
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: process.env["REPORT_OUT"] ?? "../crates/tenter-app/src/server/report",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/report.tsx", formats: ["iife"], name: "report", fileName: () => "report.gen.js", cssFileName: "report.gen" },
  },
});
