// Stage 4 of correct.ts, for conditions from about 1e12 to 1e26, after Rump ("Inversion of extremely ill-conditioned matrices in
// floating-point", 2009). An approximate inverse R of F, however inaccurate, makes R F much better conditioned, by a factor of about
// 2^53. That product B, computed exactly and rounded once, has factors with a proof (certificate.ts), and F^-1 r = (R F)^-1 (R r).
//
// R F = B + E with |E| <= 2^-53 |B| entry by entry. |B| exceeds |L| |U| at most slightly, and the certificate allows for 16 more roundings
// than there are, so it holds for R F too. A residual is a sum of three words. Its remainder is below 2^-158 of its largest entry and
// contributes less than 2^-157 norm(R) to R r, which is otherwise exact and rounded once.

import type { StridedOperand } from "../../arrays/matrix.ts";
import type { ApproximateFactors } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { type Certificate, certify } from "./certificate.ts";
import { type Corrector, type ExactMatrix, factorScale } from "./exact.ts";
import type { MethodFactors } from "./factors.ts";
import { type HeldRows, keepRows, largestOver, multiplyHeld, newHeldVector } from "./held.ts";
import { largest } from "./powers.ts";
import { type System, scaledSystem } from "./system.ts";

const WORDS = 3;
const TRUNCATION = 2 ** -157;
const COLUMNS = 64; // columns of the inverse at a time
const LARGEST = 2 ** 200; // as in certificate.ts

/** A corrector that owns memory on the engine. */
export interface ProductCorrector extends Corrector {
  free(): void;
}

/** The corrector from the factors of R F, or undefined if the matrix is too ill-conditioned for them. */
export function* productCorrector(matrix: ExactMatrix, system: System, factors: MethodFactors): Routine<ProductCorrector | undefined> {
  const { routine, n, rows } = matrix;
  const inverse = { rows, data: yield* approximateInverse(routine, factors, rows, n) };
  const norm = yield* normBound(inverse, n);
  if (!(norm < LARGEST)) return undefined;
  const scaled = yield* scaledSystem(routine, matrix, n, factorScale(system));
  let product: HeldRows;
  try {
    product = yield* multiplyHeld(routine, inverse, scaled.A);
  } finally {
    scaled.allocation.free();
  }
  if (!((yield* largestOver(largest(product.data))) < LARGEST)) return undefined;
  const found = yield* factorProduct(routine, product, n);
  let corrector: ProductCorrector | undefined;
  try {
    const certificate = yield* certify(routine, found);
    if (certificate) corrector = yield* correctorWith(routine, inverse, norm, found, certificate, n);
    return corrector;
  } finally {
    if (!corrector) found.free();
  }
}

function* correctorWith(
  routine: string,
  inverse: HeldRows,
  norm: number,
  factors: ApproximateFactors,
  { weights }: Certificate,
  n: number,
): Routine<ProductCorrector> {
  const words = yield* keepRows(routine, { rows: inverse.rows, data: repeatedInverse(inverse, n) }, n, WORDS * n);
  return {
    weights,
    words: WORDS,
    *correct(r) {
      const v = yield* multiplyExactly(words.value, r, n);
      const d = new Float64Array(n);
      yield (kernels) => kernels.approximate.substitute(routine, factors, v, 1, d);
      return { d, size: largest(v) * (1 + 2 ** -50) + norm * TRUNCATION };
    },
    free() {
      factors.free();
      words.free();
    },
  };
}

// The held rows of the inverse.
function* approximateInverse(routine: string, factors: MethodFactors, rows: Int32Array, n: number): Routine<Float64Array> {
  const inverse = yield* newHeldVector(routine, rows.length * n);
  for (let from = 0; from < n; from += COLUMNS) {
    const k = Math.min(COLUMNS, n - from);
    const identity = new Float64Array(n * k);
    for (let c = 0; c < k; c++) identity[(from + c) * k + c] = 1;
    const columns = yield* factors.substitute(identity, k);
    for (const [r, i] of rows.entries()) inverse.set(columns.subarray(i * k, (i + 1) * k), r * n + from);
  }
  return inverse;
}

// An upper bound on the infinity norm; Infinity if an entry is not finite.
function* normBound({ rows, data }: HeldRows, n: number): Routine<number> {
  let maxSum = 0;
  for (let r = 0; r < rows.length; r++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += Math.abs(data[r * n + j] as number);
    maxSum = sum >= 0 ? Math.max(maxSum, sum) : Number.POSITIVE_INFINITY;
  }
  return (yield* largestOver(maxSum)) * (1 + 2 ** -20);
}

function* factorProduct(routine: string, product: HeldRows, n: number): Routine<ApproximateFactors> {
  const allocation = yield* keepRows(routine, product, n, n);
  const ones = new Float64Array(n).fill(1);
  const none = new Float64Array(0);
  try {
    return (yield (kernels) =>
      kernels.approximate.factorize(
        routine,
        allocation.value,
        { rows: ones, cols: ones },
        "binary64",
        none,
        0,
        none,
      )) as ApproximateFactors;
  } finally {
    allocation.free();
  }
}

// (R R R): one product with all words of a residual is rounded once.
function repeatedInverse({ rows, data }: HeldRows, n: number): Float64Array {
  const copies = new Float64Array(WORDS * data.length);
  for (let r = 0; r < rows.length; r++) for (let w = 0; w < WORDS; w++) copies.set(data.subarray(r * n, (r + 1) * n), (r * WORDS + w) * n);
  return copies;
}

function* multiplyExactly(A: StridedOperand, words: readonly Float64Array[], n: number): Routine<Float64Array> {
  const x = new Float64Array(WORDS * n);
  for (const [w, word] of words.entries()) x.set(word, w * n);
  const v = new Float64Array(n);
  yield (kernels) => kernels.gemv(1, A, x, 0, v);
  return v;
}
