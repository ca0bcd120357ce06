// A browser without a window, where there is one.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);

export const missing: string | undefined = CHROMIUM === undefined ? "no Chromium on this machine, see npm run setup" : undefined;

// No name resolves to an address: what a page asks of the outside fails, and is logged as an error.
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--host-resolver-rules=MAP * ~NOTFOUND"];

/** A page as the browser has it when all is loaded, and what its console said. */
export function browse(file: string, ...flags: string[]): { dom: string; console: string[] } {
  const profile = mkdtempSync(join(tmpdir(), "halfulp-chromium-"));
  try {
    const args = [...FLAGS, `--user-data-dir=${profile}`, "--virtual-time-budget=5000", ...flags, "--dump-dom", `file://${file}`];
    const { stdout, stderr, status } = spawnSync(CHROMIUM as string, args, { encoding: "utf8", maxBuffer: 2 ** 26, timeout: 120_000 });
    if (status !== 0) throw new Error(`chromium ended with ${status}: ${stderr}`);
    return { dom: stdout, console: stderr.split("\n").filter((line) => /CONSOLE/.test(line)) };
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}
