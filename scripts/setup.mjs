// The system packages that tests and benchmarks use: installed when root on Debian or Ubuntu, otherwise the command to run.
import { execFileSync, spawnSync } from "node:child_process";

// package: the library it must bring
const PACKAGES = { "libopenblas0-pthread": "libopenblas.so.0" };

const libraries = spawnSync("ldconfig", ["-p"], { encoding: "utf8" }).stdout ?? "";
const missing = Object.keys(PACKAGES).filter((name) => !libraries.includes(PACKAGES[name]));
const command = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];

if (missing.length === 0) {
  console.log("setup: everything is there.");
} else if (process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0) {
  execFileSync("apt-get", ["update", "-q"], { stdio: "inherit" });
  execFileSync(command[0], command.slice(1), { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
} else {
  console.log(`setup: missing ${missing.join(", ")}. On Debian or Ubuntu run:\n\n  sudo ${command.join(" ")}\n`);
}
