// The OpenCL engine on a GPU (npm run bench:gpu), beside plain kernels of the same shapes and NVIDIA's libraries where they are
// installed. On a CPU's device, with --quick, it is a smoke test.
//   node bench/gpu.mjs [--only floor,reductions,gemv] [--device NAME] [--json FILE] [--rounds 9] [--quick]
import { existsSync, readFileSync } from "node:fs";
import { measureCalls } from "./gpu/calls.mjs";
import { measureFloor } from "./gpu/floor.mjs";
import { measureGemm } from "./gpu/gemm.mjs";
import { measureGemv } from "./gpu/gemv.mjs";
import { measureKrylov } from "./gpu/krylov.mjs";
import { gpuLimits } from "./gpu/limits.mjs";
import { measureBatch, measureLu } from "./gpu/lu.mjs";
import { measureProducts } from "./gpu/products.mjs";
import { measureReductions } from "./gpu/reductions.mjs";
import { measureSolve } from "./gpu/solve.mjs";
import { measureSparse } from "./gpu/sparse.mjs";
import { measureTrsv } from "./gpu/trsv.mjs";
import { study } from "./harness/library.mjs";
import { device as chosenDevice, chosenOf } from "./harness/options.mjs";
import { originOf, printLimits, saveTimings } from "./harness/session.mjs";
import { openCuda } from "./peers/cuda/open.mjs";

// Each yields its cases. The floor is a single object and is measured first: the others are compared with it.
const CASES = {
  reductions: measureReductions,
  gemv: measureGemv,
  trsv: measureTrsv,
  lu: measureLu,
  luBatch: measureBatch,
  gemm: measureGemm,
  sparse: measureSparse,
  products: measureProducts,
  krylov: measureKrylov,
  solve: measureSolve,
  calls: measureCalls,
};
const DENSE = ["gemv", "trsv", "lu", "luBatch", "gemm"];

const chosen = chosenOf(["floor", "stages", ...Object.keys(CASES)]); // stages: those of the papers, one by one, which are slow
const device = await study.openclDevice(chosenDevice);
const cuda = await openCuda();
const origin = originOfRun();
printOrigin();
const gpu = {
  device,
  cuda,
  floor: chosen.includes("floor") ? await measureFloor({ device, cuda }) : undefined,
  stages: chosen.includes("stages"),
};

const results = {};
const failures = [];
for (const [name, measure] of Object.entries(CASES).filter(([name]) => chosen.includes(name))) {
  const start = performance.now();
  results[name] = [];
  try {
    for await (const one of measure(gpu)) results[name].push(one);
  } catch (error) {
    failures.push(`${name}: ${error.message.split("\n")[0]}`);
    console.error(`\n${name} failed: ${error.stack}`);
  }
  failures.push(...results[name].flatMap(errorsOf).map((words) => `${name}: ${words}`));
  console.log(`\n(${name} took ${((performance.now() - start) / 1e3).toFixed(1)} s)`);
  saveTimings(origin, { limits: limitsSoFar(), failures, floor: gpu.floor, ...results }); // an interrupted run keeps its results so far
}
printLimits("the OpenCL engine", limitsSoFar());
await device.close();
if (failures.length > 0) {
  console.error(`\nFailed:\n  ${failures.join("\n  ")}`);
  process.exitCode = 1;
}

function limitsSoFar() {
  const dense = DENSE.flatMap((name) => results[name] ?? []);
  return gpuLimits({ ...results, dense });
}

// The errors of a case, in words.
function errorsOf({ wrong, rivals = [], solves = [], analyses = [] }) {
  const failed = [...rivals, ...solves, ...analyses].filter((rival) => rival.failed);
  return [...(wrong ? [wrong] : []), ...failed.map((rival) => `${rival.name}: ${rival.failed}`)];
}

function originOfRun() {
  const parts = Object.entries(cuda).filter(([, part]) => !part.missing);
  const note = parts.map(([name, part]) => `${name} ${part.version}`).join(", ");
  const peer = parts.length === 0 ? { missing: true } : { config: `driver ${cuda.runtime.driver}`, note };
  const slug = device.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const { name, type, vendor, units, memory, local } = device;
  const plain = originOf(`gpu-${slug}`, ["koffi"], peer, "cuda");
  return { ...plain, device: { name, type, vendor, units, memory, local, driver: driver() } };
}

function driver() {
  const file = "/proc/driver/nvidia/version";
  return existsSync(file) ? readFileSync(file, "utf8").split("\n")[0] : "unknown";
}

function printOrigin() {
  const { versions, commit, date, machine } = origin;
  console.log(`halfulp ${versions.halfulp}, ${commit}, ${date}`);
  console.log(
    `${device.name}, ${device.computeUnits} units, ${(device.memoryBytes / 2 ** 30).toFixed(0)} GiB; ${machine.processor}; Node ${versions.node}`,
  );
  console.log(`CUDA: ${versions.cuda}`);
  for (const missing of new Set(Object.values(cuda).map((part) => part.missing))) if (missing) console.log(missing);
  console.log("Times are medians of batches of calls, data on the device; rivals are interleaved.");
}
