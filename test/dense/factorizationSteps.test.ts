// Factorizations that take several steps, on every engine that divides them: results and errors do not depend on the steps, also when
// the steps of several calls alternate. exluBatch factors each matrix in one step, which is what exlu is compared with.
import { describe, expect, test } from "vitest";
import { type Matrix, matrix, SingularError, solve, ValueError } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { FULL, SEED } from "../effort.ts";
import { type AnyRoutines, SELECTED_ENGINES } from "../engines.ts";
import { storedBits } from "../hex.ts";

// exlu takes five steps at this order on one thread and two on three, the binary64 factorization of solve two.
const N = 640;
const ROWS = SELECTED_ENGINES.filter(({ name, kind }) =>
  FULL ? name !== "reference" && kind !== "opencl" : ["embedded", "threads-3"].includes(name),
);

function randomMatrix(random: Random, scaleColumn: Record<number, number> = {}): Matrix {
  const data = Float64Array.from({ length: N * N }, (_, e) => random.signed() * (scaleColumn[e % N] ?? 1));
  return matrix(data, N, N);
}

const errorOf = async (routines: AnyRoutines, A: Matrix): Promise<unknown> => {
  try {
    await routines.exlu(A);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe.each(ROWS)(`factorizations in steps, $name, HALFULP_SEED=${SEED}`, ({ routines }) => {
  const random = new Random(SEED);

  test("exlu has the bits of a factorization in one step", async () => {
    const A = randomMatrix(random);
    const twice = new Float64Array(2 * N * N);
    twice.set(A.data);
    twice.set(A.data, N * N);
    const want = await routines.exluBatch(twice, N, 2);
    const { lu, pivots } = await routines.exlu(A);
    expect(storedBits(lu.data).join()).toBe(storedBits(want.lu.subarray(N * N)).join());
    expect(Array.from(pivots)).toEqual(Array.from(want.pivots.subarray(N)));
  });

  test.each([10, 400, 639])("the zero pivot of column %i is found", async (column) => {
    const error = await errorOf(routines, randomMatrix(random, { [column]: 0 }));
    expect(error).toBeInstanceOf(SingularError);
    expect(error).toMatchObject({ index: column });
  });

  // Entries of a column near the largest number overflow where its first sum of several does.
  test.each([10, 400, 639])("an overflow in column %i is found, before anything in a later column", async (column) => {
    const later = Math.min(column + 1, N - 1);
    for (const scale of [{ [column]: 2 ** 1023.9 }, { [column]: 2 ** 1023.9, ...(later > column && { [later]: 0 }) }]) {
      const error = await errorOf(routines, randomMatrix(random, scale));
      expect(error).toBeInstanceOf(ValueError);
      expect(error).toMatchObject({ column });
    }
  });

  test("a zero pivot is found before an overflow in a later column", async () => {
    expect(await errorOf(routines, randomMatrix(random, { 300: 0, 301: 2 ** 1023.9, 600: 2 ** 1023.9 }))).toMatchObject({ index: 300 });
  });

  test("the steps of several calls may alternate", async () => {
    const systems = [0, 1].map(() => ({ A: randomMatrix(random), b: Float64Array.from({ length: N }, () => random.signed()) }));
    const alone = [];
    for (const { A } of systems) alone.push(storedBits((await routines.exlu(A)).lu.data).join());
    const [factors, solutions, sum] = await Promise.all([
      Promise.all(systems.map(({ A }) => routines.exlu(A))),
      Promise.all(systems.map(({ A, b }) => routines.solve(A, b))),
      routines.exsum(Float64Array.of(1e16, 1, -1e16)),
    ]);
    for (const [k, { A, b }] of systems.entries()) {
      expect(storedBits(factors[k]?.lu.data as Float64Array).join()).toBe(alone[k]);
      expect(storedBits(solutions[k]?.x as Float64Array).join()).toBe(storedBits(solve(A, b).x).join());
    }
    expect(sum).toBe(1);
  });
});
