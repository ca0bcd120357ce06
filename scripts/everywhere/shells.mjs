// JavaScript engines without a runtime around them, and browsers: how the corpus gets into them, and its hashes out.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The corpus with the library in one script, written to a file. */
export async function bundle(corpus, folder) {
  const { build } = await import("esbuild"); // not where npm run carry has brought this file
  const file = join(folder, `corpus-${corpus}.js`);
  await build({
    entryPoints: [fileURLToPath(new URL("shell.mjs", import.meta.url))],
    outfile: file,
    bundle: true,
    format: "iife",
    logLevel: "error",
    banner: { js: `globalThis.CORPUS = ${JSON.stringify(corpus)};` },
  });
  return file;
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };

// WebGPU on the processor.
const SWIFTSHADER = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const BROWSERS = {
  chromium: (profile) => ["--headless", "--no-sandbox", "--disable-dev-shm-usage", ...SWIFTSHADER, `--user-data-dir=${profile}`],
  "firefox-esr": (profile) => ["--headless", "--no-remote", "--profile", profile],
};

// A page that opens one engine, runs the corpus on it, and posts the hashes to where it came from.
const page = ({ opening, corpus }) => `<!doctype html><meta charset="utf-8"><script type="module">
const post = (what) => fetch("/report", { method: "POST", body: JSON.stringify(what) });
addEventListener("error", (event) => post({ error: event.message }));
try {
  const { hashes } = await import("/dist/everywhere/corpus.js");
  const library = await import("/dist/index.js");
  const opening = ${JSON.stringify(opening)};
  const engine = opening === "functions" ? undefined : await library.open(opening.kind, opening.options);
  const begin = performance.now();
  const found = await hashes(engine ?? library, { corpus: ${JSON.stringify(corpus)} });
  const seconds = (performance.now() - begin) / 1000;
  post({ device: engine?.device ?? "functions", version: navigator.userAgent, seconds, hashes: found });
} catch (error) { post({ error: String(error) + error.stack }); }
</script>`;

/** The corpus in a page of a browser that runs without a window. */
export async function inBrowser(command, task, seconds) {
  let answer;
  const report = new Promise((resolve) => {
    answer = resolve;
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    if (path === "/report") {
      let text = "";
      request.on("data", (piece) => {
        text += piece;
      });
      request.on("end", () => {
        response.end();
        answer(JSON.parse(text));
      });
      return;
    }
    // Shared memory, which threads need, is there for such pages only.
    const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
    const file = join(ROOT, normalize(path));
    if (path === "/") response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(page(task));
    else if (path.startsWith("/dist/") && existsSync(file))
      response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(file));
    else response.writeHead(404, headers).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "halfulp-browser-"));
  if (command !== "chromium") writeFileSync(join(profile, "user.js"), 'user_pref("browser.shell.checkDefaultBrowser", false);\n');
  const args = [...BROWSERS[command](profile), `http://127.0.0.1:${server.address().port}/`];
  const browser = spawn(command, args, { stdio: "ignore", detached: true, env: { ...process.env, HOME: profile } });
  const ended = new Promise((resolve) => browser.once("exit", resolve));
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ error: `no answer within ${seconds} s` }), 1000 * seconds);
  });
  try {
    return await Promise.race([report, late]);
  } finally {
    clearTimeout(timer);
    try {
      process.kill(-browser.pid, "SIGKILL"); // with the processes that it started
    } catch {} // it has ended by itself
    await ended;
    server.close();
    server.closeAllConnections();
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
