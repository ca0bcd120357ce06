// The part "Race": exact and ordinary arithmetic over growing n, alternating, the best time of a few rounds each.
import { type Engine, illConditionedMatrix, type Matrix, matrix } from "../../src/index.ts";
import { plainDot, plainSum } from "../../src/report/measure/plain.ts";
import type { RacePoint, RaceRoutine } from "../race/routines.ts";
import { withEngine } from "./engineOf.ts";
import { plainMultiply, plainSquare, plainSystem } from "./ordinary.ts";

export interface RaceTask {
  readonly routine: RaceRoutine;
  readonly engine: string;
}

interface Pair {
  exact(): Promise<unknown>;
  plain(): unknown;
  free(): void;
}

// Enough for several turns of the clock of a browser.
const ROUND = 20; // milliseconds
const ROUNDS = 5;
const MAX_TIME = 4000; // for one size; a size that takes longer is the last

const sink = new Float64Array(1); // results are used, so that no compiler leaves the work out

/** Reports a point for each size, until the sizes are used up or take too long. */
export function race({ routine, engine: kind }: RaceTask, report: (point: RacePoint) => void): Promise<void> {
  return withEngine(kind, (engine) => raceOn(engine, routine, report));
}

async function raceOn(engine: Engine, routine: RaceRoutine, report: (point: RacePoint) => void): Promise<void> {
  for (const n of SIZES[routine]) {
    const begin = performance.now();
    const pair = await PAIRS[routine](engine, n);
    try {
      await pair.exact(); // the first calls compile
      use(pair.plain());
      const times = { exact: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
      for (let round = 0; round < ROUNDS && (round === 0 || performance.now() - begin < MAX_TIME); round++) {
        times.exact = Math.min(times.exact, await timeOf(() => pair.exact()));
        times.plain = Math.min(times.plain, await timeOf(() => pair.plain()));
      }
      report({ n, ...times });
    } finally {
      pair.free();
    }
    if (performance.now() - begin > MAX_TIME) return;
  }
}

async function timeOf(call: () => unknown): Promise<number> {
  for (let calls = 1; ; calls *= 2) {
    const begin = performance.now();
    for (let k = 0; k < calls; k++) {
      const result = call();
      use(result instanceof Promise ? await result : result);
    }
    const time = performance.now() - begin;
    if (time >= ROUND) return time / calls;
  }
}

function use(result: unknown): void {
  if (typeof result === "number") sink[0] = result;
  else if (result instanceof Float64Array) sink.set(result.subarray(0, 1));
}

const powers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, k) => 2 ** (from + k));
const SIZES: Record<RaceRoutine, readonly number[]> = {
  exsum: powers(4, 23),
  exdot: powers(4, 22),
  exgemv: powers(2, 11),
  exgemm: powers(2, 9),
  solve: [2, 4, 8, 16, 32, 64, 100, 150, 200, 300, 400, 600, 800],
};

// Ordinary looking data of both signs.
function numbers(n: number, seed: number): Float64Array {
  const x = new Float64Array(n);
  let state = seed;
  for (let i = 0; i < n; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    x[i] = state / 2 ** 31;
  }
  return x;
}

const PAIRS: Record<RaceRoutine, (engine: Engine, n: number) => Promise<Pair>> = {
  async exsum(engine, n) {
    const x = numbers(n, 1);
    const there = await engine.upload(x);
    return { exact: () => engine.exsum(there), plain: () => plainSum(x), free: () => there.free() };
  },
  async exdot(engine, n) {
    const [x, y] = [numbers(n, 1), numbers(n, 2)];
    const [xThere, yThere] = [await engine.upload(x), await engine.upload(y)];
    return {
      exact: () => engine.exdot(xThere, yThere),
      plain: () => plainDot(x, y),
      free() {
        xThere.free();
        yThere.free();
      },
    };
  },
  async exgemv(engine, n) {
    const [data, x] = [numbers(n * n, 1), numbers(n, 2)];
    const [y, out] = [new Float64Array(n), new Float64Array(n)];
    const A = await engine.upload(matrix(data, n, n));
    return { exact: () => engine.exgemv(1, A, x, 0, y), plain: () => plainSquare(data, x, out), free: () => A.free() };
  },
  async exgemm(engine, n) {
    const [A, B] = [matrix(numbers(n * n, 1), n, n), matrix(numbers(n * n, 2), n, n)];
    const C = matrix(new Float64Array(n * n), n, n);
    const [aThere, bThere] = [await engine.upload(A), await engine.upload(B)];
    return {
      exact: () => engine.exgemm(1, aThere, bThere, 0, C),
      plain: () => plainMultiply(A, B),
      free() {
        aThere.free();
        bThere.free();
      },
    };
  },
  async solve(engine, n) {
    const A = n < 16 ? wellConditioned(n) : illConditionedMatrix(n, 1e6, 1);
    const b = numbers(n, 3);
    return { exact: () => engine.solve(A, b), plain: () => plainSystem(A, b), free() {} };
  },
};

function wellConditioned(n: number): Matrix {
  const data = numbers(n * n, 1);
  for (let i = 0; i < n; i++) data[i * n + i] = n + (data[i * n + i] as number);
  return matrix(data, n, n);
}
