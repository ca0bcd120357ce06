// The command as built. HALFULP_CLI=path/to/main.js runs the tests on another build, such as an installed package.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const main = process.env.HALFULP_CLI ?? join(root, "dist/cli/main.js");

/** Build it if a source is newer. That takes longer than a hook may. */
export function buildCli(): void {
  if (process.env.HALFULP_CLI === undefined) execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-needed"]);
}
