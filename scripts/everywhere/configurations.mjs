// The configurations that `npm run everywhere` compares: what each is called, how it is started, and what it needs. An engine joins with
// its row in src/engines/table.ts.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KINDS } from "../../dist/engines/table.js";
import { bundle, inBrowser } from "./shells.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const RUN = here("run.mjs");
const PACKAGES = [here("../package/node_modules"), here("node_modules")];
const POOLS = [1, 2, 3, 7, 16];

const fromNpm = (path) => PACKAGES.map((folder) => join(folder, path)).find(existsSync);
const printed = (command, ...args) => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? (stdout || stderr).trim().split("\n")[0] : undefined;
};

/** The JSON line that a command prints last. */
function line(command, args, { env = {}, seconds }) {
  const job = spawn(command, args, { env: { ...process.env, HALFULP_RELAXED_SIMD: "1", ...env }, detached: true });
  const text = { out: "", err: "" };
  job.stdout.on("data", (piece) => {
    text.out += piece;
  });
  job.stderr.on("data", (piece) => {
    text.err += piece;
  });
  return new Promise((resolve) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-job.pid, "SIGKILL");
    }, 1000 * seconds);
    job.on("error", (error) => resolve({ error: error.message }));
    job.on("close", (code) => {
      clearTimeout(timer);
      const last = text.out.trim().split("\n").at(-1);
      if (code === 0 && last?.startsWith("{")) resolve(JSON.parse(last));
      else
        resolve({
          error: late ? `not done after ${seconds} s` : (text.err + text.out).trim().split("\n").slice(-6).join(" ").slice(0, 500),
        });
    });
  });
}

/**
 * All configurations: { group, name, corpus, quick, missing, run }. `quick` are those that together take a few minutes and need nothing
 * but what npm install and npm run setup install; run(corpus, { seconds, fault }) gives { version, device, seconds, hashes } or { error }.
 */
export function configurations() {
  return [...nodes(), ...interpreted(), ...runtimes(), ...browsers(), ...shells(), ...processors(), ...engines(), ...ranks()];
}

const task =
  (command, options) =>
  (corpus, { seconds, fault }) => {
    const [file, ...args] = command;
    return line(file, [...args, RUN, JSON.stringify({ ...options, corpus, pools: POOLS, fault })], { seconds });
  };
const MAJOR = process.versions.node.split(".")[0];
const nodeOf = (major) => (major === MAJOR ? process.execPath : fromNpm(`node${major}/bin/node`));
const NEEDS_NPM = "npm run everywhere fetches it (npm)";

function nodes() {
  const group = "Node on x86-64";
  return ["20", "22", "24", "26"].flatMap((major) => {
    const node = nodeOf(major);
    const missing = node ? undefined : NEEDS_NPM;
    const quick = major === MAJOR;
    return [
      { group, name: `Node ${major}, fused multiply-add`, corpus: "large", quick, missing, run: task([node], { opening: "wasm-fma" }) },
      { group, name: `Node ${major}, Dekker's products`, corpus: "large", quick, missing, run: task([node], { opening: "wasm-dekker" }) },
    ];
  });
}

function interpreted() {
  const group = "Node without WebAssembly";
  return ["20", "22", "24", "26"].flatMap((major) => {
    const node = nodeOf(major);
    const missing = node ? undefined : NEEDS_NPM;
    const quick = major === MAJOR;
    const without = { opening: "functions", withoutWebAssembly: true };
    return [
      { group, name: `Node ${major}, no WebAssembly`, corpus: "full", quick, missing, run: task([node], without) },
      {
        group,
        name: `Node ${major}, --jitless`,
        corpus: "short",
        quick,
        missing,
        run: task([node, "--jitless"], { opening: "functions" }),
      },
    ];
  });
}

function runtimes() {
  const group = "Other runtimes";
  const found = { Deno: fromNpm("deno/deno"), Bun: fromNpm("bun/bin/bun.exe") };
  const commands = { Deno: [found.Deno, "run", "--allow-all"], Bun: [found.Bun] };
  return ["Deno", "Bun"].flatMap((name) =>
    ["functions", "threads, 3"].map((opening) => ({
      group,
      name: `${name}, ${opening}`,
      corpus: "full",
      quick: false,
      missing: found[name] ? undefined : NEEDS_NPM,
      run: task(commands[name], { opening }),
    })),
  );
}

function browsers() {
  return [
    ["Chromium", "chromium", true],
    ["Firefox", "firefox-esr", false],
  ].flatMap(([name, command, quick]) => {
    const version = printed(command, "--version");
    const missing = version ? undefined : `apt-get install ${command}`;
    const openings = [
      ["functions", "functions"],
      ["threads, 3", { kind: "threads", options: { threads: 3 } }],
    ];
    // Of Debian's browsers, Chromium has WebGPU.
    if (command === "chromium" && KINDS.includes("webgpu")) openings.push(["webgpu", { kind: "webgpu" }]);
    return openings.map(([label, opening]) => ({
      group: "Browsers",
      name: `${name}, ${label}`,
      corpus: label === "webgpu" ? "short" : "full",
      quick: quick && label !== "webgpu",
      missing,
      run: async (corpus, { seconds }) => ({ ...(await inBrowser(command, { opening, corpus }, seconds)), version }),
    }));
  });
}

const SHELLS = [
  ["JavaScriptCore", "jsc", "libjavascriptcoregtk-4.0-bin", "libjavascriptcoregtk-4.0-bin"],
  ["SpiderMonkey", "js102", "libmozjs-102-dev", "libmozjs-102-dev"],
];

function shells() {
  const group = "Shells of JavaScript engines";
  const folder = mkdtempSync(join(tmpdir(), "halfulp-shells-"));
  const rows = SHELLS.map(([name, command, from]) => {
    const version = printed("dpkg-query", "-W", "-f", "$" + "{Version}", from);
    return {
      group,
      name: `${name}, ${command}`,
      corpus: "full",
      quick: false,
      missing: version && printed("which", command) ? undefined : `apt-get install ${from}`,
      run: async (corpus, { seconds }) => ({ ...(await line(command, [await bundle(corpus, folder)], { seconds })), version }),
    };
  });
  const quickjs = fromNpm("quickjs-emscripten/package.json");
  const run = async (corpus, { seconds }) => line(process.execPath, [here("quickjs.mjs"), await bundle(corpus, folder)], { seconds });
  return [...rows, { group, name: "QuickJS", corpus: "short", quick: false, missing: quickjs ? undefined : NEEDS_NPM, run }];
}

const PROCESSORS = [
  ["aarch64", "node24-arm64", "aarch64-linux-gnu", "libstdc++6-arm64-cross"],
  ["ppc64le", "node20-ppc64le", "powerpc64le-linux-gnu", "libstdc++6-ppc64el-cross"],
  ["s390x", "node20-s390x", "s390x-linux-gnu", "libstdc++6-s390x-cross"],
];

function processors() {
  return PROCESSORS.flatMap(([processor, node, folder, libraries]) => {
    const emulator = `qemu-${processor}-static`;
    const binary = fromNpm(`${node}/bin/node`);
    const installed = printed(emulator, "--version") && existsSync(`/usr/${folder}/lib`);
    const missing = !installed ? `apt-get install qemu-user-static ${libraries}` : binary ? undefined : NEEDS_NPM;
    const command = [emulator, "-L", `/usr/${folder}`, binary];
    const endian = processor === "s390x" ? "s390x, big-endian" : processor;
    // Only aarch64 has WebAssembly with SIMD: there is none in Node on ppc64le, and on a big-endian machine it cannot serve.
    const rows = [["functions", "full"]];
    if (processor === "aarch64") rows.push(["threads, 2", "short"]);
    return rows.map(([opening, corpus]) => ({
      group: "Other processors, emulated by qemu",
      name: `${endian}, ${opening}`,
      corpus,
      quick: false,
      missing,
      run: task(command, { opening }),
    }));
  });
}

/** The engines of this machine, as in the table of engines; also on a machine that npm run carry has served. */
export function engines() {
  const group = "Engines";
  const list = execFileSync(process.execPath, [RUN, JSON.stringify({ opening: "list", pools: POOLS })], {
    encoding: "utf8",
    env: { ...process.env, HALFULP_RELAXED_SIMD: "1" },
  });
  const { openings, missing } = JSON.parse(list.trim().split("\n").at(-1));
  const slow = (name) => /^(webgpu|opencl)/.test(name); // devices that are a CPU
  return [
    ...openings
      .filter(({ synchronous }) => !synchronous)
      .map(({ name }) => ({
        group,
        name,
        corpus: slow(name) ? "full" : "large",
        quick: !name.startsWith("webgpu"),
        run: task([process.execPath], { opening: name }),
      })),
    ...missing.map(({ kind, reason }) => ({ group, name: kind, corpus: "full", quick: false, missing: reason })),
  ];
}

const LAUNCHERS = [
  ["MPICH", "mpirun.mpich", [], "mpich"],
  ["Open MPI", "mpirun.openmpi", ["--allow-run-as-root", "--oversubscribe"], "openmpi-bin"],
];

function ranks() {
  return LAUNCHERS.flatMap(([library, command, flags, from]) => {
    const missing = printed(command, "--version") ? undefined : `apt-get install ${from}`;
    return [1, 2, 3, 8].map((n) => ({
      group: "Ranks of MPI",
      name: `${library}, ${n === 1 ? "1 rank" : `${n} ranks`}`,
      corpus: n === 1 ? "full" : "short",
      quick: n === 3,
      missing,
      run: (corpus, { seconds }) =>
        line(command, [...flags, "-n", String(n), process.execPath, here("ranks.mjs"), JSON.stringify({ corpus })], { seconds }),
    }));
  });
}
