// All measurements of a report at a chosen scale.

import type { Engine } from "../../api/engine.ts";
import { engines, open } from "../../api/open.ts";
import { EngineError } from "../../arrays/errors.ts";
import { embedded } from "../../engines/embedded.ts";
import { cores } from "../../engines/threads/cores.ts";
import type { SolveMethod } from "../../routines/solve/types.ts";
import { originHere } from "../origin.ts";
import { PARTS, type Part, type Scale } from "../parts.ts";
import type { Parts, Run } from "../read.ts";
import { ACCURACY_CURVES, type Accuracy, type AccuracyCurve, measureAccuracy } from "./accuracy.ts";
import { measureBits } from "./bits.ts";
import { SCALES } from "./scales.ts";
import { type IllPoint, measureIll, measureSolve, type SolveRow } from "./solve.ts";
import { measureMatrix, type SparseCase } from "./sparse.ts";
import { KINDS, raceStages, type StagedOperation, type StageRace } from "./stages.ts";

// From what binary32 factors can do to what they cannot. Above 2^53 / n the criterion tells nothing.
const CONDITIONS = Array.from({ length: 12 }, (_, k) => Number(`1e${k + 2}`));

/** Told before each step: how much of the whole is done, from 0 to 1, and what comes. */
export type Progress = (done: number, what: string) => void;

// A part of the work, with about how long it takes in units of its own choice: parts of one scale use the same.
interface Step {
  readonly what: string;
  readonly weight: number;
  run(): Promise<void>;
}

/** Measure these parts on this machine. */
export async function measureAll(scale: Scale, parts: readonly Part[] = PARTS, progress: Progress = () => {}): Promise<Run> {
  const sizes = SCALES[scale]();
  const origin = originHere("report", embedded().name);
  const found: { -readonly [K in keyof Parts]: Parts[K] } = {};
  const missing: string[] = [];
  const planned = { bits: bitsSteps, accuracy: accuracySteps, stages: stagesSteps, sparse: sparseSteps, solve: solveSteps };
  const steps = parts.flatMap((part) => planned[part]());
  const whole = steps.reduce((sum, { weight }) => sum + weight, 0);
  let done = 0;
  for (const { what, weight, run } of steps) {
    progress(done / whole, what);
    await breath();
    await run();
    done += weight;
  }
  progress(1, "done");
  return { origin, parts: { ...found, ...(missing.length > 0 ? { missing } : {}) } };

  function bitsSteps(): Step[] {
    const run = async (): Promise<void> => {
      const opencl = (await engines()).find(({ kind }) => kind === "opencl");
      found.bits = await measureBits(opencl?.device);
    };
    return [{ what: "bits of all engines", weight: 4, run }];
  }

  function accuracySteps(): Step[] {
    const curves: Partial<Record<keyof Accuracy, AccuracyCurve>> = {};
    return ACCURACY_CURVES.map((which) => ({
      what: `errors of ${which}`,
      weight: which === "lu" ? 4 : 0.5,
      async run() {
        curves[which] = measureAccuracy(which, embedded(), sizes.accuracy);
        found.accuracy = curves as Accuracy;
      },
    }));
  }

  function stagesSteps(): Step[] {
    const races: StageRace[] = [];
    found.stages = races;
    return (Object.entries(sizes.stages.sizes) as [StagedOperation, number[]][]).flatMap(([op, all]) =>
      all.flatMap((n) =>
        KINDS.map((kind) => ({
          what: `stages of ${op}, n = ${n}`,
          weight: stagesWeight(op, n),
          async run() {
            races.push(await raceStages(op, kind, n, embedded(), sizes.stages.rounds));
          },
        })),
      ),
    );
  }

  // In seconds, as measured here with three rounds.
  function stagesWeight(op: StagedOperation, n: number): number {
    const terms = { sum: n, dot: 2 * n, gemv: 3 * n ** 2, trsv: 3 * n ** 2, lu: 10 * n ** 3 }[op];
    return 0.05 + (sizes.stages.rounds / 3) * 6e-7 * terms;
  }

  function solveSteps(): Step[] {
    const rows: SolveRow[] = [];
    const points: IllPoint[] = [];
    found.solve = { cpu: { device: embedded().name, rows }, ill: { n: sizes.solve.ill, points } };
    const solves = (
      name: string,
      start: () => Promise<Engine>,
      orders: readonly number[],
      methods: readonly SolveMethod[],
      into: SolveRow[],
    ) => ({
      what: `solve on ${name}`,
      weight: 3e-9 * sizes.solve.rounds * Math.max(...sizes.solve.orders) ** 3,
      async run() {
        const engine = await opened(`Solves on ${name}`, start);
        if (!engine) return;
        for (const method of methods) for (const n of orders) into.push(await measureSolve(engine, name, method, n, sizes.solve.rounds));
        if (engine.kind === "opencl") found.solve = { ...found.solve, gpu: { device: engine.device, rows: into } };
        await engine.close();
      },
    });
    const timed = [
      solves("one thread", () => open("wasm"), sizes.solve.orders, ["mixed", "double"], rows),
      ...(cores() > 1 ? [solves(`${cores()} threads`, () => open("threads"), sizes.solve.orders, ["mixed", "double"], rows)] : []),
      solves("a GPU", () => open("opencl", { device: "gpu" }), sizes.solve.gpu, ["mixed"], []),
    ];
    const ill = CONDITIONS.map((condition) => ({
      what: `solve, condition ${condition.toExponential(0)}`,
      weight: 0.02 * sizes.solve.seeds,
      async run() {
        for (let seed = 1; seed <= sizes.solve.seeds; seed++) points.push(measureIll(sizes.solve.ill, condition, seed));
      },
    }));
    return [...timed, ...ill];
  }

  // What cannot be opened is told of in the report.
  async function opened(what: string, start: () => Promise<Engine>): Promise<Engine | undefined> {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      missing.push(`${what}: ${error.message}`);
      return undefined;
    }
  }

  function sparseSteps(): Step[] {
    const groups = sizes.sparse.groups.map(({ title }) => ({ title, cases: [] as SparseCase[] }));
    let pool: Engine | undefined;
    const begin = async (): Promise<void> => {
      pool = await opened("The sparse schedules", () => open("threads"));
      if (pool) found.sparse = { engine: pool.device, groups };
    };
    const measured = sizes.sparse.groups.flatMap(({ title, matrices, precisions }, k) =>
      matrices.map((matrix) => ({
        what: `schedules on ${matrix.name}, ${title}`,
        weight: 1,
        async run() {
          if (pool) groups[k]?.cases.push(...(await measureMatrix(pool, matrix, precisions, sizes.sparse.rounds)));
        },
      })),
    );
    return [{ what: "threads", weight: 0.1, run: begin }, ...measured, { what: "threads", weight: 0, run: async () => pool?.close() }];
  }
}

// Signals and the terminal get their turn.
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
