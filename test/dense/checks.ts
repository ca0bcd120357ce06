// A case with its answer from the oracle, to be run on any engine: what is returned, what is thrown, and that nothing
// else has been written.
import { expect } from "vitest";
import { SingularError, ValueError } from "../../src/arrays/errors.ts";
import type { Real, TriangularOptions } from "../../src/arrays/types.ts";
import type { AnyRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import {
  column,
  entry,
  entryBits,
  formatOf,
  type Layout,
  PLAIN,
  paddingBits,
  place,
  type Table,
  transposed,
  vectorOf,
  wantedBits,
} from "../matrices.ts";
import { type Factors, gemm, lu, range, rounded, sum, trsv, value } from "../oracles/matrices.ts";

/** Runs the case on an engine; `label` says which case on which engine. */
export type Check = (routines: AnyRoutines, label: string) => Promise<void>;

function same(got: readonly string[], want: readonly string[], label: string): void {
  if (got.length !== want.length) expect.fail(`${label}: ${got.length} entries, expected ${want.length}`);
  const i = got.findIndex((bits, k) => bits !== want[k]);
  if (i >= 0) expect.fail(`${label}: entry ${i} is ${got[i]}, expected ${want[i]}`);
}

// A vector that starts one entry into its buffer, between NaN.
function inside(x: Real): Real {
  const wide = vectorOf(formatOf(x), [Number.NaN, ...x, Number.NaN, Number.NaN]);
  return wide.subarray(1, x.length + 1);
}

// Whether what these inputs are views of is still the same, padding included.
function watch(...inputs: Real[]): (label: string) => void {
  const bytes = (x: Real): Buffer => Buffer.from(x.buffer as ArrayBuffer);
  const before = inputs.map((x) => Buffer.from(bytes(x)));
  return (label) => {
    const i = inputs.findIndex((x, k) => !bytes(x).equals(before[k] as Buffer));
    if (i >= 0) expect.fail(`${label}: input ${i} has been written to`);
  };
}

/** y := alpha op(A) x + beta y. */
export function gemvCheck(alpha: number, A: Table, x: Real, beta: number, y: Real, trans = false, at: Layout = PLAIN): Check {
  const format = formatOf(x);
  const want = gemm(y.length, 1, x.length, alpha, entry(A, trans), column(x), beta, column(y), format);
  const bits = wantedBits(want, format);
  return async (routines, label) => {
    const what = `exgemv ${format} ${A.rows} by ${A.cols} ${JSON.stringify({ alpha, beta, trans, ...at })}, ${label}`;
    const [stored, input, output] = [place(A, at), inside(x), inside(y)];
    const unchanged = watch(stored.data, input);
    const returned = await routines.exgemv(alpha, stored, input, beta, output, { trans });
    expect(returned, what).toBe(output);
    same(storedBits(output), bits, what);
    unchanged(what);
  };
}

/** C := alpha op(A) op(B) + beta C. */
export function gemmCheck(
  alpha: number,
  A: Table,
  B: Table,
  beta: number,
  C: Table,
  transA = false,
  transB = false,
  at: readonly Layout[] = [PLAIN],
): Check {
  const format = formatOf(C.values);
  const inner = transA ? A.rows : A.cols;
  const want = gemm(C.rows, C.cols, inner, alpha, entry(A, transA), entry(B, transB), beta, entry(C), format);
  const bits = wantedBits(want, format);
  const [atA = PLAIN, atB = atA, atC = atB] = at;
  return async (routines, label) => {
    const what = `exgemm ${format} ${C.rows} by ${C.cols} by ${inner} ${JSON.stringify({ alpha, beta, transA, transB, at })}, ${label}`;
    const [left, right, output] = [place(A, atA), place(B, atB), place(C, atC)];
    const unchanged = watch(left.data, right.data);
    const padding = paddingBits(output);
    const returned = await routines.exgemm(alpha, left, right, beta, output, { transA, transB });
    expect(returned, what).toBe(output);
    same(entryBits(output), bits, what);
    same(paddingBits(output), padding, `${what}, padding of C`);
    unchanged(what);
  };
}

/** T x = b. T is the triangle that substitution sees: with `trans` its transpose is stored. */
export function trsvCheck(T: Table, b: Real, upper: boolean, options: TriangularOptions = {}, at: Layout = PLAIN): Check {
  const format = formatOf(b);
  const { trans = false, unit = false, rounding = "single", refine = 0, refineBlocks = 0, blockSize = 64 } = options;
  const how = { n: T.rows, T: entry(T), upper, unit, rounding, refine, refineBlocks, blockSize, format };
  const bits = wantedBits(trsv(how, Array.from(b)), format);
  const storedUpper = upper !== trans;
  const uplo = storedUpper ? "upper" : "lower";
  const reads = (i: number, j: number): boolean => (i === j ? !unit : storedUpper ? j > i : j < i);
  return async (routines, label) => {
    const what = `extrsv ${format} n=${T.rows} ${JSON.stringify({ uplo, ...options, ...at })}, ${label}`;
    const [stored, right] = [place(trans ? transposed(T) : T, at, reads), inside(b)];
    const unchanged = watch(stored.data, right);
    same(storedBits(await routines.extrsv(stored, right, { ...options, uplo })), bits, what);
    unchanged(what);
  };
}

// What a call throws, or undefined.
async function thrown(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

async function refused(
  call: () => unknown,
  want: { singular: number } | { overflow: readonly [number, number] },
  what: string,
): Promise<void> {
  const error = await thrown(call);
  if ("singular" in want) {
    expect(error, what).toBeInstanceOf(SingularError);
    expect((error as SingularError).index, what).toBe(want.singular);
  } else {
    expect(error, what).toBeInstanceOf(ValueError);
    expect([(error as ValueError).row, (error as ValueError).column], what).toEqual(want.overflow);
  }
}

/** P A = L U, and where b is given (A is square) A x = b by the factors, with so many steps of refinement. */
export function luCheck(A: Table, at: Layout = PLAIN, b?: Real, refine = 0): Check {
  const format = formatOf(A.values);
  const want = lu(A.rows, A.cols, entry(A), format);
  const solution = "lu" in want && b ? wantedBits(solve(want, A, b, refine), format) : undefined;
  return async (routines, label) => {
    const what = `exlu ${format} ${A.rows} by ${A.cols} ${JSON.stringify(at)}, ${label}`;
    const stored = place(A, at);
    const unchanged = watch(stored.data);
    if ("lu" in want) {
      const factors = await routines.exlu(stored);
      expect(Array.from(factors.pivots), what).toEqual(want.pivots);
      same(entryBits(factors.lu), wantedBits(want.lu, format), what);
      if (b && solution) same(storedBits(await factors.solve(inside(b), { refine })), solution, `${what}, solve with refine ${refine}`);
    } else {
      await refused(() => routines.exlu(stored), want, what);
    }
    unchanged(what);
  };
}

// LU.solve by its definition; a refinement of something that is not finite is NaN and infinities as they come.
function solve(factors: { lu: number[]; pivots: number[] }, A: Table, b: Real, refine: number): number[] {
  const n = A.rows;
  const format = formatOf(b);
  const common = { n, T: entry({ rows: n, cols: n, values: vectorOf(format, factors.lu) }), format };
  const plain = { ...common, rounding: "single", refine: 0, refineBlocks: 0, blockSize: 64 } as const;
  const once = (right: readonly number[]): number[] => {
    const c = [...right];
    factors.pivots.forEach((p, k) => {
      [c[k], c[p]] = [c[p] as number, c[k] as number];
    });
    return trsv({ ...plain, upper: true, unit: false }, trsv({ ...plain, upper: false, unit: true }, c));
  };
  const x = once(Array.from(b));
  for (let step = 0; step < refine && x.every(Number.isFinite); step++) {
    const r = gemm(n, 1, n, -1, entry(A), column(x), 1, column(b), format);
    const d = once(r);
    for (const i of range(n)) x[i] = rounded(sum([value(x[i] as number), value(d[i] as number)]), format);
  }
  return x;
}

/** Many matrices of one order at once. */
export function batchCheck(matrices: readonly Table[], n: number, format: "binary64" | "binary32"): Check {
  const wants: Factors[] = matrices.map((A) => lu(n, n, entry(A), format));
  const overflow = wants.find((want) => "overflow" in want);
  const data = vectorOf(
    format,
    matrices.flatMap((A) => Array.from(A.values)),
  );
  return async (routines, label) => {
    const what = `exluBatch ${format} ${matrices.length} of order ${n}, ${label}`;
    const input = inside(data);
    const unchanged = watch(input);
    if (overflow) {
      await refused(() => routines.exluBatch(input, n, matrices.length), overflow as { overflow: [number, number] }, what);
    } else {
      const got = await routines.exluBatch(input, n, matrices.length);
      expect(Array.from(got.info), what).toEqual(wants.map((want) => ("singular" in want ? 1 + want.singular : 0)));
      expect([got.lu.length, got.pivots.length], what).toEqual([data.length, n * matrices.length]);
      wants.forEach((want, k) => {
        if (!("lu" in want)) return;
        expect(Array.from(got.pivots.subarray(k * n, (k + 1) * n)), `${what}, matrix ${k}`).toEqual(want.pivots);
        same(storedBits(got.lu.subarray(k * n * n, (k + 1) * n * n)), wantedBits(want.lu, format), `${what}, matrix ${k}`);
      });
    }
    unchanged(what);
  };
}
