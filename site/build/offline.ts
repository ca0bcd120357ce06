// Lets the built page work without a network: a service worker (site/serviceWorker.ts) that knows all files of the build. It also puts a
// content security policy into the page: scripts and connections of this server only, so that nothing can be sent elsewhere.
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const WORKER = "serviceWorker.js";
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:", // the pool of threads starts its workers from a blob
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export function offline(): Plugin {
  return {
    name: "halfulp:offline",
    apply: "build",
    buildStart() {
      this.emitFile({ type: "chunk", id: "serviceWorker.ts", fileName: WORKER });
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [{ tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" }],
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const names = Object.keys(bundle)
          .filter((name) => name !== WORKER)
          .sort();
        const hash = createHash("sha256");
        for (const name of names) {
          const file = bundle[name];
          hash.update(name).update(file?.type === "chunk" ? file.code : (file?.source ?? ""));
        }
        const worker = bundle[WORKER];
        if (worker?.type !== "chunk") throw new Error(`The build has no ${WORKER}`);
        const files = JSON.stringify(["./", ...names.filter((name) => name !== "index.html")]);
        worker.code = worker.code.replace(/["'`]%FILES%["'`]/, () => files).replace("%VERSION%", hash.digest("hex").slice(0, 16));
      },
    },
  };
}
