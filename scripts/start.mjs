// The main job on the embedded engine: a short tour on real numbers. Builds first if a source is newer than dist/.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-needed"], { stdio: "inherit" });
await import("./tour.mjs");
