// Small runs with made-up numbers, of every kind that a report draws.
import type { Run } from "../../src/report/read.ts";
import { readRun } from "../../src/report/read.ts";

const timing = (name: string, time: number) => ({ name, median: time, min: time * 0.9, rounds: [time] });
export const machine = { processor: "A processor", processors: 2, memoryGiB: 8, kernel: "Linux 6", architecture: "x64" };
export const origin = (benchmark: string) => ({
  benchmark,
  date: "2026-01-02T03:04:05.000Z",
  commit: "abc",
  machine,
  versions: { node: "20.0.0" },
});

const point = (asked: number, seed: number, errors: Record<string, number | null>) => ({ asked, seed, condition: 1.1 * asked, ...errors });
const curve = (methods: readonly string[]) => ({
  n: 4,
  condition: "|| |A| |x| || / ||A x||",
  points: [1e2, 1e10, 1e20].flatMap((asked) =>
    [1, 2].map((seed) => point(asked, seed, Object.fromEntries(methods.map((name, k) => [name, k === 0 ? null : k === 1 ? 0 : 10 ** -k])))),
  ),
});
const TRSV = ["plain", "doubleDouble", "single", "paper", "corrected", "refine1", "refine2"];
export const accuracy = {
  gemv: curve(["plain", "exact"]),
  trsv: curve(TRSV),
  trsvRepresentable: curve(TRSV),
  lu: curve(["plain", "exact", "refine1", "refine2", "plainFactorization", "exactFactorization"]),
};

const STAGES = ["plain", "superaccumulator", "fpe2", "fpe2ee", "fpe8", "fpe8ee", "ladder", "certified"];
export const stages = ["sum", "gemv"].flatMap((op) =>
  ["well-conditioned", "condition 1e30"].flatMap((kind) =>
    [16, 32, 64].map((n) => ({ op, kind, n, engine: "wasm-fma", stages: STAGES.map((name, k) => timing(name, 100 * (k + 1) * n)) })),
  ),
);

const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"];
const schedules = ["plain", "exact"].flatMap((mode) =>
  SCHEDULES.map((schedule, k) => ({
    mode,
    schedule,
    levels: [0, 0],
    setUp: 1e6 * (k + 1),
    solve: 1e6,
    min: 1e6,
    gflops: 0.1 * (k + 1),
    setUpInSolves: k + 1,
    paysAgainst: { ...(k === 0 ? {} : { serial: k === 1 ? null : k }), gsf: null },
  })),
);
export const sparse = {
  engine: "2 threads, wasm-fma",
  groups: [
    {
      title: "2-D Laplacians with 5 points",
      cases: [
        { name: "8 x 8", precision: "binary64", n: 64, entries: 288, schedules },
        { name: "4 x 16", precision: "binary64", n: 64, entries: 280, schedules },
        { name: "2 x 32", precision: "binary64", n: 64, entries: 250, missing: "no memory" },
      ],
    },
  ],
};

const falling = (method: string, preconditioner: string, iterations: number, last = 1e-11) => ({
  method,
  preconditioner,
  reason: iterations < 40 ? "tolerance" : "maxIterations",
  iterations,
  residual: last,
  history: Array.from({ length: iterations + 1 }, (_, k) => (k === iterations ? last : 10 ** ((-11 * k) / 40))),
});
export const convergence = [
  {
    name: "Laplacian, 8 x 8",
    n: 64,
    entries: 288,
    // the last residual of the third curve is 0, which has no logarithm
    curves: [falling("gmres", "ilu0", 9), falling("cg", "none", 30), falling("cg", "ilu0", 12, 0), falling("bicgstab", "jacobi", 40)],
  },
  { name: "nothing to do", n: 0, entries: 0, curves: [{ ...falling("cg", "none", 0), history: [0] }] },
];

const solved = (engine: string, method: string, n: number, k: number) => ({
  engine,
  method,
  n,
  time: 1e6 * n,
  min: 9e5 * n,
  gflops: k + n / 100,
  iterations: k,
  converged: true,
  residual: 0.1,
});
export const solve = {
  cpu: {
    device: "wasm-fma",
    rows: [64, 128].flatMap((n) => ["mixed", "double"].map((method, k) => solved("one thread", method, n, 2 - k))),
  },
  gpu: {
    device: "A GPU",
    rows: [64, 128].flatMap((n) => [
      solved("the engine's choice", "mixed", n, 2),
      { ...solved("look-ahead 1", "mixed", n, 3), sharing: { panel: "cpu", lookAhead: 1, forward: "cpu", backward: "gpu" } },
      { ...solved("look-ahead 0", "mixed", n, 3), sharing: { panel: "cpu", lookAhead: 0, forward: "cpu", backward: "gpu" } },
    ]),
  },
  ill: {
    n: 32,
    points: [1e4, 1e9].map((condition) => ({
      condition,
      seed: 1,
      mixed: { converged: condition < 1e8, iterations: 3, residual: condition < 1e8 ? 0.5 : null },
      answer: { method: condition < 1e8 ? "mixed" : "double", converged: true, iterations: 3, residual: 0.5 },
    })),
  },
};

const hashes = { exsum: "0123456789abcdef".repeat(4), sptrsv: "fedcba9876543210".repeat(4) };
export const bits = {
  inputs: "some numbers",
  rows: [
    { engine: "plain TypeScript", schedule: "serial", hashes },
    { engine: "2 threads, wasm-fma", schedule: "serial", hashes },
    { engine: "2 threads, wasm-fma", schedule: "gsf", hashes: { sptrsv: hashes.sptrsv } },
    { engine: "opencl", schedule: "", hashes: {}, missing: "no OpenCL here" },
  ],
};

const rivals = (...names: string[]) => names.map((name, k) => timing(name, 1e6 * (k + 1)));
export const gpu = {
  device: { name: "A GPU", type: "gpu", driver: "1.0" },
  reductions: [1024, 4096].map((n) => ({
    op: "sum",
    kind: "well-conditioned",
    n,
    rivals: rivals("plain kernel", "superaccumulator", "fpe2", "fpe6ee", "certified", "cuBLAS Dasum", "result read, cuBLAS Dasum"),
  })),
  solve: [{ n: 1024, rivals: [...rivals("ours, solve", "cuSOLVER DDgesv"), { name: "cuSOLVER DSgesv", failed: "it is out of memory" }] }],
  lu: [{ op: "lu", form: "", rows: 1024, cols: 1024, rivals: rivals("ours, exlu", "cuSOLVER Dgetrf") }],
  sparse: [
    {
      grid: { sizes: [8, 8], points: 5 },
      n: 64,
      entries: 288,
      solves: rivals("plain slfr", "exact slfr", "cuSPARSE SpSV"),
      analyses: rivals("plain slfr", "exact slfr", "cuSPARSE SpSV"),
    },
  ],
};

export const races = [
  {
    op: "dot",
    kind: "well-conditioned",
    n: 100,
    rivals: rivals("exdot wasm-fma, engine memory", "plain SIMD loop", "OpenBLAS ddot, Haswell", "d3"),
  },
  { op: "dot", kind: "condition 1e30", n: 100, rivals: rivals("exdot wasm-fma, engine memory", "plain SIMD loop") },
];

/** The JSON files, by what they are. */
export const FILES = {
  report: { ...origin("report"), accuracy, stages, sparse, convergence, solve, bits, missing: ["Something: it is not here"] },
  accuracy: { ...origin("accuracy"), ...accuracy },
  level1: { ...origin("level1"), cases: races, stages },
  dense: { ...origin("dense"), cases: races },
  solve: {
    ...origin("solve"),
    cases: [{ n: 100, rivals: rivals("mixed wasm-fma", "double wasm-fma", "OpenBLAS dgesv, Haswell", "math.js") }],
  },
  sparse: {
    ...origin("sparse"),
    cases: [
      {
        grid: { sizes: [8, 8], points: 5 },
        n: 64,
        serial: rivals("CXSparse cs_di_lsolve", "plain serial, wasm-fma", "exact serial, wasm-fma"),
      },
    ],
  },
  "sparse-tables": { ...origin("sparse-tables"), ...sparse },
  "solve-tables": { ...origin("solve-tables"), ...solve },
  "gpu-a-gpu": { ...origin("gpu-a-gpu"), ...gpu },
};

/** A run from a value, as if it were a file. */
export function runOf(value: unknown, name = "x.json"): Promise<Run> {
  return runOfText(JSON.stringify(value), name);
}

export function runOfText(text: string, name = "x.json"): Promise<Run> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const all = new TextEncoder().encode(text);
    for (let at = 0; at < all.length; at += 65537) yield all.subarray(at, at + 65537);
  }
  return readRun(name, bytes());
}
