// The system packages that tests and benchmarks use: installed when root on Debian or Ubuntu, otherwise the command to run.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

// For each need the packages that meet it, with the library or the file they bring. Of several, releases have one each.
const NEEDS = [
  { "libopenblas0-pthread": "libopenblas.so.0" },
  { libcxsparse3: "libcxsparse.so.3", libcxsparse4: "libcxsparse.so.4" }, // Debian 12; Debian 13
  { "libflint-arb2": "libflint-arb.so.2", libflint20: "libflint.so.20" }, // Debian 12; Debian 13, where FLINT has Arb in it
  { "ocl-icd-libopencl1": "libOpenCL.so.1" },
  { "pocl-opencl-icd": "/etc/OpenCL/vendors/pocl.icd" }, // OpenCL on a CPU; its library may be there without
  { "libstdc++6-s390x-cross": "/usr/s390x-linux-gnu/lib/libstdc++.so.6" }, // a big-endian machine, for npm run check:package
];
// And for each the program it brings.
const PROGRAMS = [{ chromium: "chromium" }, { "qemu-user-static": "qemu-s390x-static" }];

const libraries = spawnSync("ldconfig", ["-p"], { encoding: "utf8" }).stdout ?? "";
const isThere = (name) => (name.startsWith("/") ? existsSync(name) : libraries.includes(name));
const lacks = (program) => spawnSync(program, ["--version"]).status !== 0;
const unmet = [
  ...NEEDS.filter((packages) => !Object.values(packages).some(isThere)),
  ...PROGRAMS.filter((packages) => Object.values(packages).every(lacks)),
];
const canInstall = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;

if (unmet.length === 0) {
  console.log("setup: everything is there.");
} else {
  if (canInstall) execFileSync("apt-get", ["update", "-q"], { stdio: "inherit" });
  const missing = unmet.map((packages) => Object.keys(packages).find(isKnown) ?? Object.keys(packages)[0]);
  const command = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];
  if (canInstall)
    execFileSync(command[0], command.slice(1), { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  else console.log(`setup: missing ${missing.join(", ")}. On Debian or Ubuntu run:\n\n  sudo ${command.join(" ")}\n`);
}

// Of a package that a release does not have apt knows nothing, or, where others mention it, no candidate.
function isKnown(name) {
  const inEnglish = { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } };
  return /^ {2}Candidate: [^(]/m.test(spawnSync("apt-cache", ["policy", name], inEnglish).stdout ?? "");
}
