// The build of the page (npm run site) and its two servers: vite site, with reloading, and vite preview site, of what was built.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { documents } from "./build/documents.ts";
import { offline } from "./build/offline.ts";
import { onlyForBrowsers } from "./build/onlyForBrowsers.ts";

// Threads need shared memory, which browsers give to isolated pages only. Any other server has to send these two headers as well.
const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

export default defineConfig({
  root: import.meta.dirname,
  base: "./", // the page may be in any folder of a server
  server: { headers, fs: { allow: [".."] } },
  preview: { headers },
  worker: { format: "es", plugins: () => [onlyForBrowsers()] },
  // light-dark() in the style sheet, as written: the button that switches the colours needs it
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  define: { __VERSION__: JSON.stringify(version) },
  plugins: [onlyForBrowsers(), documents(), offline()],
});
