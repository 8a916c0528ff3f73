import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { noticesOf } from "./vite.notices.ts";

const SERVER = process.env["TENTER_UI"] ?? "http://127.0.0.1:8427";

/** Writes the licences of the packages that are in the page beside it. */
function notices(): Plugin {
  return {
    name: "notices",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const source = noticesOf(chunks.flatMap((chunk) => Object.keys(chunk.modules)));
      this.emitFile({ type: "asset", fileName: "third-party.txt", source });
    },
  };
}

export default defineConfig({
  plugins: [react(), notices()],
  build: {
    outDir: "../crates/tenter-app/page",
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
