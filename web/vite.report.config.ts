import { defineConfig } from "vite";

// The script of reports. It is committed, so that a clone without Node.js has it.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: process.env["REPORT_OUT"] ?? "../crates/tenter-report/src/html",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/report/main.ts", formats: ["iife"], name: "report", fileName: () => "report.gen.js" },
  },
});
