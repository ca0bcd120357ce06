// The page in a real browser, driven as a person would: Chromium by its own protocol, Firefox by WebDriver BiDi, both through puppeteer-core.
// A visit records what went wrong on the console and every address that was asked for.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { chromium } from "../package/browser.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The title of a test that needs a browser says what is missing. */
export const CHROMIUM = chromium() === undefined ? " (npm run setup installs chromium)" : "";
const hasFirefox = spawnSync("firefox-esr", ["--version"]).status === 0;
export const FIREFOX = hasFirefox ? "" : " (npm run setup installs firefox-esr)";

/** Builds the page into a folder of its own, as npm run site does. */
export function buildSite(): string {
  execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--kernels", "--if-needed"]);
  const folder = mkdtempSync(join(tmpdir(), "halfulp-site-"));
  // in a process of its own, without the environment of the tests
  const vite = fileURLToPath(new URL("../../bin/vite.js", import.meta.resolve("vite")));
  const flags = ["build", "site", "--logLevel", "error", "--outDir", folder, "--emptyOutDir"];
  execFileSync(process.execPath, [vite, ...flags], { cwd: root, env: { PATH: process.env.PATH } });
  return folder;
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** A server of the built page, with or without the headers that threads need. */
export async function serve(folder: string, { isolated = true } = {}): Promise<Served> {
  const headers = isolated ? ISOLATED : {};
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const file = join(folder, normalize(path.endsWith("/") ? `${path}index.html` : path));
    if (!existsSync(file)) return void response.writeHead(404, headers).end();
    response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const SWIFTSHADER = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** A browser with a profile of its own. WebGPU is on the processor, and slow. */
export async function launch(kind: "chrome" | "chrome with WebGPU" | "firefox"): Promise<{ browser: Browser; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), "halfulp-profile-"));
  const path = (name: string): string => execFileSync("which", [name], { encoding: "utf8" }).trim();
  const browser = await puppeteer.launch({
    browser: kind === "firefox" ? kind : "chrome",
    executablePath: path(kind === "firefox" ? "firefox-esr" : (chromium() as string)),
    headless: true,
    userDataDir: profile,
    args: kind === "firefox" ? [] : [...CHROMIUM_FLAGS, ...(kind === "chrome" ? [] : SWIFTSHADER)],
    protocolTimeout: 120_000,
  });
  return {
    browser,
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }).catch(() => {}); // a file of a process that is ending
    },
  };
}

const SECONDS = 1000;

/** One tab, and what happened in it. */
export class Visit {
  /** Errors and warnings of the console, uncaught errors, and requests that failed. */
  readonly complaints: string[] = [];
  /** What was asked of a server. */
  readonly requests: string[] = [];

  private constructor(
    readonly page: Page,
    readonly url: string,
  ) {}

  static async open(browser: Browser, url: string, fragment = ""): Promise<Visit> {
    const visit = new Visit(await browser.newPage(), url);
    const { page, complaints, requests } = visit;
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warn") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("requestfailed", (request) => complaints.push(`${request.url()} failed: ${request.failure()?.errorText}`));
    page.on("request", (request) => {
      if (/^https?:/.test(request.url())) requests.push(request.url());
    });
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(url + fragment);
    return visit;
  }

  /** Waits until the selector matches something visible. */
  see(selector: string, seconds = 60): Promise<ElementHandle | null> {
    return this.page.waitForSelector(selector, { visible: true, timeout: seconds * SECONDS });
  }

  /** The text that can be read there, with single spaces. */
  async text(selector: string): Promise<string> {
    const text = await this.page.$eval(selector, (element) => (element as HTMLElement).innerText);
    return text.split(/\s+/).join(" ").trim();
  }

  /** Waits until the text there matches, and returns it. */
  async reads(selector: string, pattern: RegExp, seconds = 60): Promise<string> {
    const found = await this.page.waitForFunction(
      (where, source, flags) => {
        const text = (document.querySelector(where) as HTMLElement | null)?.innerText.split(/\s+/).join(" ").trim();
        return text !== undefined && new RegExp(source, flags).test(text) ? { text } : undefined;
      },
      { timeout: seconds * SECONDS, polling: 50 },
      selector,
      pattern.source,
      pattern.flags,
    );
    return ((await found.jsonValue()) as { text: string }).text;
  }

  /** Clicks the button or link with this text. */
  async click(text: string): Promise<void> {
    await (
      await this.page.waitForSelector(`::-p-xpath(//*[self::button or self::a or self::summary][normalize-space()="${text}"])`)
    )?.click();
  }

  /** Types into a field, in place of what it has. */
  async write(selector: string, text: string): Promise<void> {
    await this.page.click(selector, { clickCount: 3 });
    await this.page.$eval(selector, (field) => (field as HTMLTextAreaElement).select());
    await this.page.keyboard.press("Backspace");
    await this.page.type(selector, text);
  }

  /** Drops a file with these bytes. */
  async drop(selector: string, name: string, bytes: Uint8Array): Promise<void> {
    await this.page.$eval(
      selector,
      (target, fileName, numbers) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(numbers)], fileName));
        target.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      },
      name,
      [...bytes],
    );
  }

  /** Goes to another part without loading the page anew. */
  async go(fragment: string): Promise<void> {
    await this.page.evaluate((hash) => {
      location.hash = hash;
    }, fragment);
  }

  /** What axe-core finds wrong, in words. */
  async accessibility(): Promise<string[]> {
    const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
    // as a script of the debugger: the page's content security policy lets no other in
    await this.page.evaluate(`window.axe ?? (() => { ${source} })()`);
    const { violations } = (await this.page.evaluate(
      `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`,
    )) as { violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] };
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
    );
  }
}
