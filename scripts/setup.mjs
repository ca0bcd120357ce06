// Installs the system packages that tests and benchmarks use (npm run setup), as root on Debian or Ubuntu. Otherwise it prints the command.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

// For each requirement, the packages that meet it and the library or file that each provides. Of several, each release has only one.
const NEEDS = [
  { "libopenblas0-pthread": "libopenblas.so.0" },
  { libcxsparse3: "libcxsparse.so.3", libcxsparse4: "libcxsparse.so.4" }, // Debian 12; Debian 13
  { "libflint-arb2": "libflint-arb.so.2", libflint20: "libflint.so.20" }, // Debian 12; Debian 13, where FLINT includes Arb
  { "ocl-icd-libopencl1": "libOpenCL.so.1" },
  { "pocl-opencl-icd": "/etc/OpenCL/vendors/pocl.icd" }, // OpenCL on a CPU; its library may be installed without it
  { libvulkan1: "libvulkan.so.1" }, // WebGPU in Node
  { "libstdc++6-s390x-cross": "/usr/s390x-linux-gnu/lib/libstdc++.so.6" }, // an emulated big-endian machine, for npm run check:package
];
// The same for programs.
const PROGRAMS = [
  { chromium: "chromium" },
  { "qemu-user-static": "qemu-s390x-static" },
  { mpich: "mpirun.mpich" },
  { "openmpi-bin": "mpirun.openmpi" },
];

const libraries = spawnSync("ldconfig", ["-p"], { encoding: "utf8" }).stdout ?? "";
const isInstalled = (name) => (name.startsWith("/") ? existsSync(name) : libraries.includes(name));
const lacks = (program) => spawnSync(program, ["--version"]).status !== 0;
const unmet = [
  ...NEEDS.filter((packages) => !Object.values(packages).some(isInstalled)),
  ...PROGRAMS.filter((packages) => Object.values(packages).every(lacks)),
];
const canInstall = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;

if (unmet.length === 0) {
  console.log("setup: everything is installed.");
} else {
  if (canInstall) execFileSync("apt-get", ["update", "-q"], { stdio: "inherit" });
  const missing = unmet.map((packages) => Object.keys(packages).find(isKnown) ?? Object.keys(packages)[0]);
  const command = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];
  if (canInstall)
    execFileSync(command[0], command.slice(1), { stdio: "inherit", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  else console.log(`setup: missing ${missing.join(", ")}. On Debian or Ubuntu run:\n\n  sudo ${command.join(" ")}\n`);
}

// Whether this release has the package. If not, apt does not know the name, or has no candidate because other packages mention it.
function isKnown(name) {
  const inEnglish = { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } };
  return /^ {2}Candidate: [^(]/m.test(spawnSync("apt-cache", ["policy", name], inEnglish).stdout ?? "");
}
