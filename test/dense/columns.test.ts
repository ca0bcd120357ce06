// Many right-hand sides on every engine: each column of extrsm and LU.solve has the bits that extrsv and LU.solve return for it alone, on
// the reference engine, whatever its neighbours are.
import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import type { Matrix, Real, TriangularOptions } from "../../src/arrays/types.ts";
import { kernels, Random, routinesOn } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { type AnyRoutines, describeEngines } from "../engines.ts";
import { storedBits } from "../hex.ts";

const reference = routinesOn(kernels("reference") as never) as unknown as AnyRoutines;
const COUNTS = [0, 1, 3, 4, 5, 12];
const OPTIONS: readonly TriangularOptions[] = [
  {},
  { uplo: "upper" },
  { trans: true, unit: true },
  { rounding: "paper" },
  { uplo: "upper", rounding: "corrected" },
  { refine: 2 },
  { refineBlocks: 1, blockSize: 8 },
];

// A matrix with gaps between its lines, filled with NaN.
function placed(type: typeof Float64Array | typeof Float32Array, rows: number, cols: number, order: "row" | "column"): Matrix<Real> {
  const [lines, length] = order === "row" ? [rows, cols] : [cols, rows];
  const data = new type(2 + lines * (length + 3)).fill(Number.NaN);
  return matrix<Real>(data, rows, cols, { order, ld: length + 3, offset: 2 });
}
const indexIn = (A: Matrix<Real>, i: number, j: number): number => A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i);
function filled(A: Matrix<Real>, entry: (i: number, j: number) => number): Matrix<Real> {
  for (let i = 0; i < A.rows; i++) for (let j = 0; j < A.cols; j++) A.data[indexIn(A, i, j)] = entry(i, j);
  return A;
}
function columnOf(A: Matrix<Real>, j: number): Real {
  const entries = Array.from({ length: A.rows }, (_, i) => A.data[indexIn(A, i, j)] as number);
  return A.data.BYTES_PER_ELEMENT === 8 ? Float64Array.from(entries) : Float32Array.from(entries);
}

// Right-hand sides of which column 1 has an infinity, 2 a NaN, 3 only zeros, 4 large numbers, and the others nothing special.
function rightHandSides(random: Random, B: Matrix<Real>): Matrix<Real> {
  return filled(B, (i, j) => {
    if (B.cols > 4 && i === 2 && (j === 1 || j === 2)) return j === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
    return j === 3 ? 0 : random.signed() * (j === 4 ? 2 ** 80 : 1);
  });
}

async function sameColumns(X: Matrix<Real>, B: Matrix<Real>, alone: (b: Real) => unknown, label: string): Promise<void> {
  expect([X.rows, X.cols, X.order, X.data.length], label).toEqual([B.rows, B.cols, B.order, B.rows * B.cols]);
  for (let j = 0; j < B.cols; j++)
    expect(storedBits(columnOf(X, j)), `${label}, column ${j}, HALFULP_SEED=${SEED}`).toEqual(
      storedBits((await alone(columnOf(B, j))) as Real),
    );
}

describeEngines("many right-hand sides", (routines) => {
  for (const type of [Float64Array, Float32Array])
    for (const options of OPTIONS)
      test(`extrsm of ${type.name} with ${JSON.stringify(options)}`, async () => {
        const random = new Random(SEED);
        for (const n of [1, 5, 37])
          for (const cols of COUNTS)
            for (const order of ["row", "column"] as const) {
              const T = filled(placed(type, n, n, order), (i, j) => (i === j ? 2 + random.signed() : random.signed()));
              const B = rightHandSides(random, placed(type, n, cols, cols % 2 === 0 ? "row" : "column"));
              const X = await routines.extrsm(T, B, options);
              await sameColumns(X, B, (b) => reference.extrsv(T, b, options), `n=${n}, ${cols} columns, T by ${order}s`);
            }
      });

  test("two steps of refinement of a binary32 system begin with numbers of binary32", async () => {
    const floats = (...words: number[]): Float32Array => new Float32Array(Uint32Array.from(words).buffer);
    const T = matrix(floats(0x803b29e7, 0x8124ee6e, 0x00ca1d53, 0x0030d8b2), 2, 2);
    const b = floats(0x815e97af, 0x0159b506);
    const B = matrix(
      Float32Array.from({ length: 8 }, (_, at) => b[at >> 2] as number),
      2,
      4,
    );
    for (const refine of [1, 2, 3]) {
      const options = { uplo: "upper", trans: true, refine } as const;
      await sameColumns(await routines.extrsm(T, B, options), B, (each) => reference.extrsv(T, each, options), `refine ${refine}`);
    }
  });

  for (const refine of [0, 1])
    test(`LU.solve with refine ${refine}`, async () => {
      const random = new Random(SEED);
      for (const type of [Float64Array, Float32Array])
        for (const cols of COUNTS) {
          const A = filled(placed(type, 19, 19, "row"), () => random.signed());
          const B = rightHandSides(random, placed(type, 19, cols, cols % 2 === 0 ? "column" : "row"));
          const [factors, alone] = [await routines.exlu(A), await reference.exlu(A)];
          const X = await factors.solve(B, { refine });
          await sameColumns(X, B, (b) => alone.solve(b, { refine }), `LU.solve, ${type.name}, ${cols} columns`);
        }
    });
});

describe("arguments of extrsm", () => {
  const T = matrix(Float64Array.of(1, 0, 2, 3), 2, 2);
  const refused = (B: unknown, options?: unknown) => () => reference.extrsm(T, B as never, options as never);

  test("B must be a matrix of the precision and the order of T", () => {
    expect(refused(new Float64Array(2))).toThrow("extrsm: B is an object of type Float64Array, expected a matrix");
    expect(refused(matrix(new Float64Array(3), 3, 1))).toThrow("extrsm: B has 3 rows, expected 2 (the order of T)");
    expect(refused(matrix(new Float32Array(2), 2, 1))).toThrow("extrsm: B is binary32, expected binary64 (the precision of T)");
    expect(refused(matrix(new Float64Array(2), 2, 1), { side: "right" })).toThrow('extrsm: there is no option "side"');
  });

  test("a zero on the diagonal is named", () => {
    const singular = matrix(Float64Array.of(1, 0, 2, 0), 2, 2);
    expect(() => reference.extrsm(singular, T)).toThrow("extrsm: entry (1, 1) of T is 0");
  });
});
