// illConditionedTriangular and representableTriangular, for tests of extrsv.
import { checkCount } from "../arrays/checks.ts";
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import type { Matrix } from "../arrays/types.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { roundRational } from "../exact/rounding.ts";
import { exponentOf, Superaccumulator, significand } from "../exact/superaccumulator.ts";
import { checkProblem, nonzero, toGrid } from "./illConditionedDot.ts";

// How many bits the condition may grow from one row to the next. A diagonal entry is smaller than the rest of its row by this much, and
// b must still determine x: its last bit is 2^-53 of the row.
const BITS_PER_ROW = 25;

/**
 * A lower triangular system with about the given Skeel condition number, || |T^-1| |T| |x| || / ||x|| in the max norm, where x is the
 * exact solution. Uses only integers and powers of two: every JavaScript engine generates the same problem from a seed. The exact
 * solution is about 1 and has more bits than any format; errors in its first elements reach the last ones magnified by the condition.
 * @example
 * const { T, b } = illConditionedTriangular(20, 1e20, 1);
 * extrsv(T, b).length; // 20
 */
export function illConditionedTriangular(n: number, condition: number, seed: number): { T: Matrix; b: Float64Array<ArrayBuffer> } {
  const bits = checkSystem("illConditionedTriangular", n, condition, seed);
  const random = new Random(seed);
  const wanted = Float64Array.from({ length: n }, () => nonzero(random));
  const T = growingTriangle(n, condition, bits, [], wanted, random);
  return { T: matrix(T, n, n), b: rightHandSide(T, wanted, bits) };
}

/**
 * Like illConditionedTriangular, but with an exactly representable solution: T x = b to the last bit. T and x use all their bits; the
 * first two columns of T, smaller than the others, are chosen so that the bits of T x beyond those of b are zero. Intermediate results
 * need more than the 106 bits of double-double arithmetic.
 * @example
 * const { T, b, x } = representableTriangular(20, 1e20, 1);
 * extrsv(T, b).every((v, i) => v === x[i]); // true
 */
export function representableTriangular(
  n: number,
  condition: number,
  seed: number,
): { T: Matrix; b: Float64Array<ArrayBuffer>; x: Float64Array<ArrayBuffer> } {
  const bits = checkSystem("representableTriangular", n, condition, seed);
  const random = new Random(seed);
  const x = Float64Array.from({ length: n }, () => nonzero(random));
  for (let i = 0; i < 2; i++) x[i] = Math.sign(x[i] as number);
  const T = growingTriangle(n, condition, bits, SMALL, x, random);
  return { T: matrix(T, n, n), b: exactRightHandSide(T, x), x };
}

// The first two columns are smaller than the others by these powers of two: see exactRightHandSide.
const SMALL = [26, 53];

function checkSystem(routine: string, n: number, condition: number, seed: number): number {
  const bits = checkProblem(routine, 1, condition, seed);
  checkCount(routine, "n", n, Math.ceil(bits / BITS_PER_ROW) + 2);
  return bits;
}

/**
 * A triangle, built row by row: random in (-1, 1) off the diagonal, the first columns smaller by the powers of two in `small`,
 * and a diagonal that makes the condition grow from row to row. With e = |T^-1| |T| |x|, and the signs of the
 * entries those of a_i s_j off the diagonal and of -a_i s_i on it, |T^-1| is the inverse of the matrix with |T_ii| on the diagonal
 * and -|T_ij| off it: nothing cancels, and e follows from |T_ii| e_i = sum_{j<i} |T_ij| (e_j + |x_j|) + |T_ii| |x_i|.
 * Hence |T_ii| = sum_{j<i} |T_ij| (e_j + |x_j|) / t_i makes e_i = t_i + |x_i|. For |x| <= 1 and the t below,
 * e_j + |x_j| <= 6 t_i for all j < i, and |T_ii| <= 6 n.
 */
function growingTriangle(
  n: number,
  condition: number,
  bits: number,
  small: readonly number[],
  x: Float64Array,
  random: Random,
): Float64Array {
  const T = new Float64Array(n * n);
  const e = new Float64Array(n);
  const signs = x.map(() => random.below(2) * 2 - 1);
  const largest = x.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  for (let i = 0; i < n; i++) {
    const sign = random.below(2) * 2 - 1;
    let sum = 0;
    for (let j = 0; j < i; j++) {
      const size = Math.abs(random.signed()) * powerOfTwo(-(small[j] ?? 0));
      T[i * n + j] = sign * (signs[j] as number) * size;
      sum += size * ((e[j] as number) + Math.abs(x[j] as number));
    }
    const uneven = Math.abs(nonzero(random));
    const t = i === n - 1 ? condition * largest : powerOfTwo(Math.floor((bits * i) / (n - 1))) * uneven;
    // A row without off-diagonal entries, such as the first, has condition 1.
    const diagonal = sum === 0 ? uneven : Math.max(toGrid(sum / t, 53), powerOfTwo(-53));
    T[i * n + i] = -sign * (signs[i] as number) * diagonal;
    e[i] = sum / diagonal + Math.abs(x[i] as number);
  }
  return T;
}

/**
 * b = T x, with the first two columns of T adjusted until this holds exactly. A row has a diagonal entry of at most 6 n and other
 * entries below 1, and |x| <= 1: |T x| < 8 n, so a multiple of 2^-grid fits into 53 bits. The remainder of T x is a multiple of 2^-106.
 * With |T_i0| < 2^-26 and x_0 = ±1, the first column absorbs the part down to 2^-79; with |T_i1| < 2^-53 and x_1 = ±1, the second
 * absorbs the rest. Neither is rounded. In the second row, where T_11 is not that small, there is no remainder: both x are ±1.
 */
function exactRightHandSide(T: Float64Array, x: Float64Array): Float64Array<ArrayBuffer> {
  const n = x.length;
  const grid = 50 - (32 - Math.clz32(n));
  const b = new Float64Array(n);
  const sum = new Superaccumulator();
  for (let i = 0; i < n; i++) {
    sum.clear();
    for (let j = 0; j <= i; j++) sum.addProduct(T[i * n + j] as number, x[j] as number);
    b[i] = i === 0 ? sum.round() : toGrid(sum.round(), grid);
    sum.add(-(b[i] as number));
    for (const [j, bits] of SMALL.entries()) {
      const excess = toGrid(sum.round(), 53 + bits);
      T[i * n + j] = (T[i * n + j] as number) - excess * (x[j] as number);
      sum.add(-excess);
    }
  }
  return b;
}

/**
 * A b for which the exact solution of T x = b is close to `wanted`: b_i is T_ii wanted_i + sum_{j<i} T_ij x_j, rounded, with the exact
 * solution x so far. The rounding error of b_i then affects only x_i; computed from `wanted` alone, it would reach the last elements
 * magnified by the condition. Fixed-point arithmetic has enough bits to keep the errors of the stored x_j from being magnified as well.
 */
function rightHandSide(T: Float64Array, wanted: Float64Array, bits: number): Float64Array<ArrayBuffer> {
  const n = wanted.length;
  const entryBits = 128; // an entry is at least about 2^-BITS_PER_ROW, its last bit 2^-52 of it
  const solutionBits = bits + 128;
  const b = new Float64Array(n);
  const x: bigint[] = [];
  for (let i = 0; i < n; i++) {
    let sum = 0n;
    for (let j = 0; j < i; j++) sum += fixed(T[i * n + j] as number, entryBits) * (x[j] as bigint);
    const diagonal = fixed(T[i * n + i] as number, entryBits);
    const right = sum + diagonal * fixed(wanted[i] as number, solutionBits);
    b[i] = roundRational(right, 1n, -entryBits - solutionBits, "nearest", "binary64");
    x.push((fixed(b[i] as number, entryBits + solutionBits) - sum) / diagonal);
  }
  return b;
}

// v * 2^bits as an integer, truncated.
function fixed(v: number, bits: number): bigint {
  return BigInt(significand(v)) << BigInt(exponentOf(v) + bits);
}
