// All measurements of a report at a chosen scale. Called by the commands report and bench.

import type { Engine } from "../../api/engine.ts";
import { open } from "../../api/open.ts";
import { EngineError } from "../../arrays/errors.ts";
import { embedded } from "../../engines/embedded.ts";
import { ENGINES, type EngineRow } from "../../engines/table.ts";
import { originHere } from "../origin.ts";
import { PARTS, type Part, type Scale } from "../parts.ts";
import type { Parts, Run } from "../read.ts";
import { ACCURACY_CURVES, type Accuracy, type AccuracyCurve, measureAccuracy } from "./accuracy.ts";
import { measureBits } from "./bits.ts";
import { type ConvergenceCase, measureConvergence } from "./convergence.ts";
import { SCALES } from "./scales.ts";
import { type IllPoint, measureIll, measureSolve, type SolveRow } from "./solve.ts";
import { measureMatrix, type SparseCase } from "./sparse.ts";
import { KINDS, raceStages, type StagedOperation, type StageRace } from "./stages.ts";

// From systems that binary32 factors can solve to systems that they cannot. Above 2^53 / n the criterion means nothing.
const CONDITIONS = Array.from({ length: 12 }, (_, k) => Number(`1e${k + 2}`));

/** Called before each step with the fraction done, from 0 to 1, and what comes next. */
export type Progress = (done: number, what: string) => void;

// A piece of work and roughly how long it takes. The unit is arbitrary, but the same for all steps of a scale.
interface Step {
  readonly what: string;
  readonly weight: number;
  run(): Promise<void>;
}

/** Measures these parts on this machine. */
export async function measureAll(scale: Scale, parts: readonly Part[] = PARTS, progress: Progress = () => {}): Promise<Run> {
  const sizes = SCALES[scale]();
  const origin = originHere("report", embedded().name);
  const found: { -readonly [K in keyof Parts]: Parts[K] } = {};
  const missing: string[] = [];
  const planned = {
    bits: bitsSteps,
    accuracy: accuracySteps,
    stages: stagesSteps,
    sparse: sparseSteps,
    convergence: convergenceSteps,
    solve: solveSteps,
  };
  const steps = parts.flatMap((part) => planned[part]());
  const total = steps.reduce((sum, { weight }) => sum + weight, 0);
  let done = 0;
  for (const { what, weight, run } of steps) {
    progress(done / total, what);
    await yieldToEvents();
    await run();
    done += weight;
  }
  progress(1, "done");
  return { origin, parts: { ...found, ...(missing.length > 0 ? { missing } : {}) } };

  function bitsSteps(): Step[] {
    const run = async (): Promise<void> => {
      found.bits = await measureBits();
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

  // In seconds, measured with three rounds.
  function stagesWeight(op: StagedOperation, n: number): number {
    const terms = { sum: n, dot: 2 * n, gemv: 3 * n ** 2, trsv: 3 * n ** 2, lu: 10 * n ** 3 }[op];
    return 0.05 + (sizes.stages.rounds / 3) * 6e-7 * terms;
  }

  function convergenceSteps(): Step[] {
    const cases: ConvergenceCase[] = [];
    found.convergence = cases;
    return sizes.convergence.map((problem) => ({
      what: `convergence, ${problem.name}`,
      weight: 0.5,
      async run() {
        cases.push(measureConvergence(problem));
      },
    }));
  }

  function solveSteps(): Step[] {
    const rows: SolveRow[] = [];
    const points: IllPoint[] = [];
    found.solve = { cpu: { device: embedded().name, rows }, ill: { n: sizes.solve.ill, points } };
    // An engine that runs on a device is measured on a GPU, in orders of its own; the others are compared on the CPU.
    const timed = ENGINES.map(({ kind, summary, options }: (typeof ENGINES)[number] & EngineRow) => ({
      what: `solve on ${summary}`,
      weight: 3e-9 * sizes.solve.rounds * Math.max(...sizes.solve.orders) ** 3,
      async run() {
        const onDevice = options.includes("device");
        const engine = await opened(`Solves on ${summary}`, () => open(kind, onDevice ? { device: "gpu" } : {}));
        if (!engine) return;
        const { device } = engine;
        const into: SolveRow[] = onDevice ? [] : rows;
        for (const method of onDevice ? (["mixed"] as const) : (["mixed", "double"] as const))
          for (const n of onDevice ? sizes.solve.gpu : sizes.solve.orders)
            into.push(await measureSolve(engine, device, method, n, sizes.solve.rounds));
        if (onDevice) found.solve = { ...found.solve, gpu: { device, rows: into } };
        await engine.close();
      },
    }));
    const ill = CONDITIONS.map((condition) => ({
      what: `solve, condition ${condition.toExponential(0)}`,
      weight: 0.02 * sizes.solve.seeds,
      async run() {
        for (let seed = 1; seed <= sizes.solve.seeds; seed++) points.push(measureIll(sizes.solve.ill, condition, seed));
      },
    }));
    return [...timed, ...ill];
  }

  // The report lists the engines that cannot be opened.
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

// Lets signals and the terminal be served.
const yieldToEvents = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
