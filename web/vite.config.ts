import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../crates/tenter-server/page",
    emptyOutDir: true,
    // Everything is served from one machine to itself: files are few rather than split.
    chunkSizeWarningLimit: 2048,
    assetsInlineLimit: 0,
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8700" },
  },
});
