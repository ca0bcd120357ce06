// Short calls reuse memory from call to call: the scratch memory, the record of the job and the padded ends of rows. No call may see what
// another left there.
import { describe, expect, test } from "vitest";
import { exgemv, exlu, extrsv, matrix } from "../../src/index.ts";
import { kernels, Random, routinesOn } from "../../src/study.ts";

const random = new Random(2107);
const vector = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const [reference, ...builds] = ["reference", "wasm-fma", "wasm-dekker"].flatMap((name) => {
  const engine = kernels(name as "reference");
  return engine ? [routinesOn(engine)] : [];
});
if (!reference || builds.length === 0) throw new Error("no build of the WebAssembly kernels runs here");
const ORDERS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 33];

function triangle(n: number): Float64Array {
  const data = vector(n * n);
  for (let i = 0; i < n; i++) data[i * n + i] = 2 + random.signed();
  return data;
}

describe("short calls", () => {
  test("have the bits of the reference, also after calls that left NaN in the scratch memory", () => {
    for (const n of ORDERS) {
      const nan = new Float64Array(40 * 40).fill(Number.NaN);
      for (const on of builds) on.exgemv(1, matrix(nan, 40, 40), nan.subarray(0, 40), 0, new Float64Array(40));
      const [A, B, x, T] = [vector(n * n), vector(n * n), vector(n), triangle(n)];
      for (const order of ["row", "column"] as const) {
        const view = (data: Float64Array) => matrix(data, n, n, { order });
        const [expected, ...results] = [reference, ...builds].map((on) => [
          on.exgemv(1.5, view(A), x, -1, Float64Array.from(x)),
          on.extrsv(view(T), x),
          on.extrsv(view(T), x, { uplo: "upper", trans: true }),
          on.exgemm(1, view(A), view(B), 0, view(new Float64Array(n * n))).data,
          on.exlu(view(A)).lu.data,
          on.exlu(view(A)).pivots,
        ]);
        for (const result of results) expect(result, `order ${n}, ${order}`).toEqual(expected);
      }
    }
  });

  test("the result of a call is not overwritten by the next one", () => {
    const n = 4;
    const [first, second, x] = [vector(n * n), vector(n * n), vector(n)];
    const T = triangle(n);
    const solution = extrsv(matrix(T, n, n), x);
    const factors = exlu(matrix(first, n, n));
    const [keptSolution, keptFactors, keptPivots] = [solution.slice(), factors.lu.data.slice(), factors.pivots.slice()];
    const b = factors.solve(x, { refine: 1 });
    extrsv(matrix(triangle(n), n, n), vector(n));
    exlu(matrix(second, n, n));
    exgemv(1, matrix(second, n, n), x, 0, new Float64Array(n));
    expect(solution).toEqual(keptSolution);
    expect(factors.lu.data).toEqual(keptFactors);
    expect(factors.pivots).toEqual(keptPivots);
    expect(factors.solve(x, { refine: 1 })).toEqual(b);
  });

  test("operands may be views of one buffer, with gaps", () => {
    const n = 5;
    const buffer = vector(200);
    const x = buffer.subarray(100, 100 + n);
    const y = buffer.subarray(110, 110 + n);
    const A = matrix(buffer, n, n, { ld: 7, offset: 3 });
    const expected = reference.exgemv(1, A, x, 0, new Float64Array(n));
    const before = buffer.slice();
    exgemv(1, A, x, 0, y);
    expect(y).toEqual(expected);
    before.set(expected, 110);
    expect(buffer).toEqual(before);
    expect(() => exgemv(1, A, x, 0, buffer.subarray(5, 5 + n))).toThrow("exgemv: y shares entries with A, expected none in common");
  });
});
