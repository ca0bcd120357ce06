// A page in a real browser. It reports by posting to the server that it came from: nothing else has to be known about it.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

/** The first of these that is installed. */
export function chromium(): string | undefined {
  return ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
}

/** What the page of this folder posts to /report, and what it asked this server for. */
export async function visit(folder: string, page: string, seconds = 60): Promise<{ report: unknown; asked: string[] }> {
  const asked: string[] = [];
  let answer: (report: unknown) => void;
  const report = new Promise<unknown>((resolve) => {
    answer = resolve;
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    if (path === "/report") {
      let text = "";
      request.on("data", (part) => {
        text += part;
      });
      request.on("end", () => {
        response.end();
        answer(JSON.parse(text));
      });
      return;
    }
    asked.push(path);
    // Shared memory, which threads need, is there for such pages only.
    const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
    try {
      const body = readFileSync(join(folder, normalize(path)));
      response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "halfulp-browser-"));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${page}`;
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`];
  const browser = spawn(chromium() as string, [...flags, url], { stdio: "ignore", detached: true });
  const ended = new Promise<void>((resolve) => browser.once("exit", () => resolve()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${page} has not reported after ${seconds} s; it asked for ${asked.join(", ")}`)),
      1000 * seconds,
    );
  });
  try {
    return { report: await Promise.race([report, late]), asked };
  } finally {
    clearTimeout(timer);
    process.kill(-(browser.pid as number), "SIGKILL"); // with the processes that it started
    await ended;
    server.close();
    server.closeAllConnections();
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }).catch(() => {}); // a file of a process that is ending may be left in the folder for such files
  }
}

/** A script that reports what `expression` is, or what went wrong. */
export function reporting(imports: string, expression: string): string {
  return `${imports}
const post = (what) => fetch("/report", { method: "POST", body: JSON.stringify(what) });
addEventListener("error", (event) => post({ error: event.message }));
try { post(await ${expression}); } catch (error) { post({ error: String(error) }); }
`;
}
