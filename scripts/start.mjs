// npm start: builds if a source is newer than dist/, then runs a short tour of the library (tour.mjs).
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-needed"], { stdio: "inherit" });
await import("./tour.mjs");
