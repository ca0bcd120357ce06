// The OpenCL engine on a GPU, beside plain kernels of the same shapes and NVIDIA's libraries where they are. On a CPU's device,
// with --quick, it is a smoke test.
//   node bench/gpu.mjs [--only floor,reductions,gemv] [--device NAME] [--out FILE] [--rounds 9] [--quick]
import { existsSync, readFileSync } from "node:fs";
import { openDevice } from "../dist/engines/opencl/device/device.js";
import { openCuda } from "./cuda.mjs";
import { measureCalls } from "./gpuCalls.mjs";
import { measureFloor } from "./gpuFloor.mjs";
import { measureGemm } from "./gpuGemm.mjs";
import { measureGemv } from "./gpuGemv.mjs";
import { gpuLimits } from "./gpuLimits.mjs";
import { measureBatch, measureLu } from "./gpuLu.mjs";
import { oursOn } from "./gpuOurs.mjs";
import { measureReductions } from "./gpuReductions.mjs";
import { chosenDevice, chosenOf, originOf, printLimits, save } from "./gpuSession.mjs";
import { measureSolve } from "./gpuSolve.mjs";
import { measureSparse } from "./gpuSparse.mjs";
import { measureTrsv } from "./gpuTrsv.mjs";

// Each yields its cases; the floor is one object, and comes first, so that the others can be compared with it.
const CASES = {
  reductions: measureReductions,
  gemv: measureGemv,
  trsv: measureTrsv,
  lu: measureLu,
  luBatch: measureBatch,
  gemm: measureGemm,
  sparse: measureSparse,
  solve: measureSolve,
  calls: measureCalls,
};
const DENSE = ["gemv", "trsv", "lu", "luBatch", "gemm"];

const chosen = chosenOf(["floor", ...Object.keys(CASES)]);
const device = await openDevice(chosenDevice);
const cuda = await openCuda();
const origin = whereFrom();
printOrigin();
const gpu = { device, cuda, ours: oursOn(device), floor: chosen.includes("floor") ? await measureFloor({ device, cuda }) : undefined };

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
  failures.push(...results[name].flatMap(wordsOn).map((words) => `${name}: ${words}`));
  console.log(`\n(${name} took ${((performance.now() - start) / 1e3).toFixed(1)} s)`);
  save(origin, { limits: limitsSoFar(), failures, floor: gpu.floor, ...results }); // a run that is cut short leaves what it has
}
printLimits("the GPU engine is", limitsSoFar());
device.close();
if (failures.length > 0) {
  console.error(`\nFailed:\n  ${failures.join("\n  ")}`);
  process.exitCode = 1;
}

function limitsSoFar() {
  const dense = DENSE.flatMap((name) => results[name] ?? []);
  return gpuLimits({ reductions: results.reductions, dense, sparse: results.sparse, solve: results.solve });
}

// What went wrong in a case.
function wordsOn({ wrong, rivals = [], solves = [], analyses = [] }) {
  const failed = [...rivals, ...solves, ...analyses].filter((rival) => rival.failed);
  return [...(wrong ? [wrong] : []), ...failed.map((rival) => `${rival.name}: ${rival.failed}`)];
}

function whereFrom() {
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
    `${device.name}, ${device.units} units, ${(device.memory / 2 ** 30).toFixed(0)} GiB; ${machine.processor}; Node ${versions.node}`,
  );
  console.log(`CUDA: ${versions.cuda}`);
  for (const missing of new Set(Object.values(cuda).map((part) => part.missing))) if (missing) console.log(missing);
  console.log("Times are medians of calls in a row, data on the device; rivals take turns.");
}
