// The drivers that run a routine step by step, synchronously and asynchronously.
import { describe, expect, test } from "vitest";
import { type Routine, runAsync, runSync, type Step } from "../../src/engines/steps.ts";
import { EngineError, matrix, ShapeError } from "../../src/index.ts";
import { type AsyncKernels, asyncRoutines, kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { storedBits } from "../hex.ts";
import { recorder } from "./recorder.ts";

const reference = kernels("reference") as LocalKernels;
const never = (): never => expect.fail("an engine was asked for");

// The reference engine behind promises: it reads at once and writes, all at once, when they resolve.
function delayed(): AsyncKernels {
  const later = <R>(compute: () => R, outputs: Float64Array[]): Promise<R> => {
    const before = outputs.map((output) => output.slice());
    const result = compute();
    const after = outputs.map((output) => output.slice());
    for (const [i, output] of outputs.entries()) output.set(before[i] as Float64Array);
    return Promise.resolve().then(() => {
      for (const [i, output] of outputs.entries()) output.set(after[i] as Float64Array);
      return result;
    });
  };
  return {
    gemv: (...args) => later(() => reference.gemv(...args), [args[4] as Float64Array]),
    spmv: (...args) => later(() => reference.spmv(...args), [args[4] as Float64Array]),
    ilu0: (...args) => later(() => reference.ilu0(...args), [args[1] as Float64Array]),
    krylov: reference.krylov,
    gemm: (...args) => later(() => reference.gemm(...args), [args[4].data as Float64Array]),
    trsv: (...args) => later(() => reference.trsv(...args), [args[2] as Float64Array]),
    trsm: (...args) => later(() => reference.trsm(...args), [args[2].data as Float64Array]),
    *lu(...args) {
      return (yield () => later(() => runSync(reference.lu(...args)), [args[0] as Float64Array])) as number;
    },
    sptrsv: (...args) => later(() => reference.sptrsv(...args), [args[2] as Float64Array]),
    sptrsm: (...args) => later(() => reference.sptrsm(...args), [args[2].data as Float64Array]),
    workers: 0,
    memory: reference.memory,
    firstZero: (...args) => reference.firstZero(...args),
    approximate: reference.approximate,
  };
}

function vector(random: Random, n: number): Float64Array {
  return Float64Array.from({ length: n }, () => random.signed());
}

describe("drivers", () => {
  function* twoSteps(): Routine<unknown[]> {
    const first = yield (k) => k.lu(new Float64Array(1), 1, 1, 1, new Int32Array(1), new Int32Array(1));
    const second = yield () => "second";
    return [first, second];
  }

  test("give a routine the result of each step", async () => {
    const engine = { lu: () => 7 } as unknown as LocalKernels;
    const slow = { lu: () => Promise.resolve(7) } as unknown as AsyncKernels;
    expect(runSync(twoSteps(), () => engine)).toEqual([7, "second"]);
    expect(await runAsync(twoSteps(), () => slow)).toEqual([7, "second"]);
  });

  test("ask for no engine where there is no step", async () => {
    function* answers(steps: Step[]): Routine<number> {
      for (const step of steps) yield step;
      return 1;
    }
    expect(runSync(answers([]), never)).toBe(1);
    expect(await runAsync(answers([]), never)).toBe(1);
  });

  test("pass on what an engine throws", async () => {
    const lost = () => Promise.reject(new EngineError("lu: the device is lost"));
    await expect(runAsync(twoSteps(), () => ({ lu: lost }) as unknown as AsyncKernels)).rejects.toThrow(EngineError);
    const closed = (): never => {
      throw new EngineError("the engine is closed");
    };
    await expect(runAsync(twoSteps(), closed)).rejects.toThrow("the engine is closed");
    expect(() => runSync(twoSteps(), closed)).toThrow("the engine is closed");
  });
});

describe("an asynchronous call", () => {
  const A = matrix(Float64Array.of(4, 1, 2, 3), 2, 2);

  test("has given its inputs to the engine when it returns", () => {
    const { async: later, calls } = recorder();
    const y = new Float64Array(2);
    const running = [
      later.exgemv(1, A, Float64Array.of(1, 2), 0, y),
      later.exgemm(1, A, A, 0, matrix(new Float64Array(4), 2, 2)),
      later.extrsv(A, y),
      later.exlu(A),
      later.exluBatch(A.data, 2, 1),
    ];
    expect(calls.map(({ kernel }) => kernel)).toEqual(["gemv", "gemm", "trsv", "lu", "lu"]);
    return Promise.all(running);
  });

  test("that is wrong rejects, and asks for no engine", async () => {
    const later = asyncRoutines(never);
    await expect(later.exgemv(1, A, new Float64Array(3), 0, new Float64Array(2))).rejects.toThrow(ShapeError);
    await expect(later.exluBatch(A.data, 2, 2)).rejects.toThrow(ShapeError);
  });

  test("that fails has written nothing", async () => {
    const fails = () => Promise.reject(new EngineError("the worker died"));
    const later = asyncRoutines(() => ({
      gemv: fails,
      spmv: fails,
      ilu0: fails,
      krylov: reference.krylov,
      gemm: fails,
      trsv: fails,
      trsm: fails,
      *lu() {
        return (yield fails) as never;
      },
      sptrsv: fails,
      sptrsm: fails,
      workers: 0,
      memory: reference.memory,
      firstZero: reference.firstZero,
      approximate: reference.approximate,
    }));
    const y = Float64Array.of(1, 2);
    await expect(later.exgemv(1, A, Float64Array.of(1, 2), 0, y)).rejects.toThrow(EngineError);
    await expect(later.exlu(A)).rejects.toThrow(EngineError);
    expect([Array.from(y), Array.from(A.data)]).toEqual([
      [1, 2],
      [4, 1, 2, 3],
    ]);
  });

  test("returns the bits of the synchronous one, and the vector it wrote", async () => {
    const random = new Random(3);
    const [now, later] = [routinesOn(reference), asyncRoutines(delayed)];
    const M = matrix(vector(random, 64), 8, 8);
    const [x, b] = [vector(random, 8), vector(random, 8)];
    const [y, z] = [b.slice(), b.slice()];
    const written = await later.exgemv(0.1, M, x, 0.3, y, { trans: true });
    expect(written).toBe(y);
    expect(storedBits(y)).toEqual(storedBits(now.exgemv(0.1, M, x, 0.3, z, { trans: true })));
    const [C, D] = [matrix(vector(random, 64), 8, 8), matrix(new Float64Array(64), 8, 8)];
    D.data.set(C.data);
    expect(await later.exgemm(3, M, M, 0.7, C, { transB: true })).toBe(C);
    expect(storedBits(C.data)).toEqual(storedBits(now.exgemm(3, M, M, 0.7, D, { transB: true }).data));
    expect(storedBits(await later.extrsv(M, b, { refine: 1 }))).toEqual(storedBits(now.extrsv(M, b, { refine: 1 })));
    expect(await later.exluBatch(M.data, 4, 4)).toEqual(now.exluBatch(M.data, 4, 4));
  });

  test("of several steps does not see what the caller changes meanwhile", async () => {
    const random = new Random(4);
    const M = matrix(vector(random, 36), 6, 6);
    const b = vector(random, 6);
    const wanted = routinesOn(reference).exlu(M).solve(b, { refine: 2 });
    const factoring = asyncRoutines(delayed).exlu(M);
    M.data.fill(0);
    const solving = (await factoring).solve(b, { refine: 2 });
    b.fill(Number.NaN);
    expect(storedBits(await solving)).toEqual(storedBits(wanted));
  });
});
