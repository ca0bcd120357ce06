// For conditions from about 1e12 to 1e26, after Rump ("Inversion of extremely ill-conditioned matrices in floating-point", 2009):
// an approximate inverse R of F, however inaccurate, makes R F much better conditioned, by a factor of about 2^53. Computed exactly
// and rounded once, that product B has factors with a proof (certificate.ts), and F^-1 r = (R F)^-1 (R r).
//
// R F = B + E with |E| <= 2^-53 |B| entry by entry. Since |B| <= |L| |U| and a little more, the certificate, which allows for 16
// roundings more than there are, is one of R F too. A residual is a sum of three words; what is left of it is below 2^-158 of its
// largest entry, and contributes less than 2^-157 norm(R) to R r, which is otherwise exact and rounded once.

import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { ApproximateFactors } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { keepMatrix } from "../transfer.ts";
import { type Certificate, certify } from "./certificate.ts";
import { type Corrector, type ExactMatrix, scaleOf } from "./exact.ts";
import type { Factorization } from "./factors.ts";
import { largest } from "./powers.ts";
import { type System, scaledSystem } from "./system.ts";

const WORDS = 3;
const LEFT = 2 ** -157;
const CHUNK = 64; // columns of the inverse at a time
const LARGEST = 2 ** 200; // as in certificate.ts

/** A corrector and what it keeps on the engine. */
export interface ProductCorrector extends Corrector {
  free(): void;
}

/** The corrector by a product, or undefined if the matrix is too ill-conditioned for that. */
export function* productCorrector(matrix: ExactMatrix, system: System, factors: Factorization): Routine<ProductCorrector | undefined> {
  const { routine, n, data } = matrix;
  const inverse = yield* inverseOf(routine, factors, n);
  const norm = largestSum(inverse, n);
  if (!(norm < LARGEST)) return undefined;
  const product = newVector(routine, inverse, n * n);
  const scaled = yield* scaledSystem(routine, data, n, scaleOf(system));
  try {
    yield (kernels) => kernels.gemm(1, rowMajor(inverse, n, n), scaled.A, 0, rowMajor(product, n, n));
  } finally {
    scaled.kept.free();
  }
  if (!(largest(product) < LARGEST)) return undefined;
  const found = yield* factorsOf(routine, product, n);
  let corrector: ProductCorrector | undefined;
  try {
    const certificate = yield* certify(routine, found);
    if (certificate) corrector = yield* correctorBy(routine, inverse, norm, found, certificate, n);
    return corrector;
  } finally {
    if (!corrector) found.free();
  }
}

function* correctorBy(
  routine: string,
  inverse: Float64Array,
  norm: number,
  factors: ApproximateFactors,
  { weights }: Certificate,
  n: number,
): Routine<ProductCorrector> {
  const words = yield* keepMatrix(routine, rowMajor(repeated(inverse, n), n, WORDS * n), true);
  return {
    weights,
    words: WORDS,
    *correct(r) {
      const v = yield* exactProduct(words.value, r, n);
      const d = new Float64Array(n);
      yield (kernels) => kernels.approximate.substitute(routine, factors, v, 1, d);
      return { d, size: largest(v) * (1 + 2 ** -50) + norm * LEFT };
    },
    free() {
      factors.free();
      words.free();
    },
  };
}

function* inverseOf(routine: string, factors: Factorization, n: number): Routine<Float64Array> {
  const inverse = newVector(routine, new Float64Array(0), n * n);
  for (let from = 0; from < n; from += CHUNK) {
    const k = Math.min(CHUNK, n - from);
    const identity = new Float64Array(n * k);
    for (let c = 0; c < k; c++) identity[(from + c) * k + c] = 1;
    const columns = yield* factors.substitute(identity, k);
    for (let i = 0; i < n; i++) inverse.set(columns.subarray(i * k, (i + 1) * k), i * n + from);
  }
  return inverse;
}

// A bound of the largest sum of magnitudes in a row; NaN if an entry is not finite.
function largestSum(data: Float64Array, n: number): number {
  let most = 0;
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += Math.abs(data[i * n + j] as number);
    most = Math.max(most, sum);
  }
  return most * (1 + 2 ** -20);
}

function* factorsOf(routine: string, product: Float64Array, n: number): Routine<ApproximateFactors> {
  const kept = yield* keepMatrix(routine, rowMajor(product, n, n), true);
  const ones = new Float64Array(n).fill(1);
  const none = new Float64Array(0);
  try {
    return (yield (kernels) =>
      kernels.approximate.factorize(routine, kept.value, { rows: ones, cols: ones }, "binary64", none, 0, none)) as ApproximateFactors;
  } finally {
    kept.free();
  }
}

// R beside itself: one product with all words of a residual is rounded once.
function repeated(inverse: Float64Array, n: number): Float64Array {
  const copies = new Float64Array(WORDS * n * n);
  for (let i = 0; i < n; i++) for (let w = 0; w < WORDS; w++) copies.set(inverse.subarray(i * n, (i + 1) * n), (i * WORDS + w) * n);
  return copies;
}

function* exactProduct(A: StridedOperand, words: readonly Float64Array[], n: number): Routine<Float64Array> {
  const x = new Float64Array(WORDS * n);
  for (const [w, word] of words.entries()) x.set(word, w * n);
  const v = new Float64Array(n);
  yield (kernels) => kernels.gemv(1, A, x, 0, v);
  return v;
}
