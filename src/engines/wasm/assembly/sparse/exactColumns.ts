// Rows of a sparse triangular system with many right-hand sides, interleaved: row k has JOB_N of them, a multiple of eight, one after
// another, and so have the unknowns. Indices and values are read once for eight columns, which are lanes. Called by rows.ts for every schedule
// of sptrsv.ts.
import { LARGE, SMALL, put } from "../exact/certificate";
import { hasNaN, inRange, quotientLanes, roundedLanes, where } from "../exact/lanes";
import { MIN_PRODUCT } from "../exact/terms";
import { frame } from "../frame";
import { JOB_DIAGONAL, JOB_DIAGONAL_AT, JOB_N, JOB_ORDER, JOB_VALUES, JOB_X, JOB_Y, SCRATCH_X } from "../layout";
import { U, add, isFused, load, load2, load4, load6, nmadd, mul, one, productExcess, splat, sub, sumError } from "../simd";
import { lastGrid, minusProduct, roundRow, setLastGrid, settleRow } from "./exactRows";
import { diagonalOf, endOf, firstOf, indexOf, integer, lineOf, originOf, stepOf } from "./triangle";
import { addressAt, i32At } from "../team";

// The grid of each column, in the worker's frame. exactRows.ts explains grids; columns may have different magnitudes.
@inline function gridAt(lane: i32): usize { return frame + SCRATCH_X + (lane << 3); }

// Before the first row.
export function startColumns(job: usize): void {
  for (let lane = 0, count = i32At(job, JOB_N); lane < count; ++lane) f64.store(gridAt(lane), lastGrid());
}

// Solve rows [from, to). A row is summed as in exactRows(): s is the sum on its grid, c what it has lost, and `left` tells whether it has left
// the binade of the grid. A lane sums a whole row, so that there is no addition of lanes, and the bound of exactRows() holds.
export function exactColumns<T>(job: usize, from: i32, to: i32): void {
  const count = i32At(job, JOB_N), step = stepOf(job), order = addressAt(job, JOB_ORDER), y = addressAt(job, JOB_Y);
  size = <usize>count * sizeof<T>(); x = addressAt(job, JOB_X); diagonal = addressAt(job, JOB_DIAGONAL);
  for (let k = from, line = lineOf(job, from); k < to; ++k, line += step) {
    const first = firstOf(job, line), end = endOf(job, line), index = indexOf(job, line, first), last = index + (<usize>(end - first) << 2);
    const at = y + <usize>(order != 0 ? integer(order, k) : line) * size, origin = x + <usize>originOf(job, line) * size;
    const value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>(), terms = <f64>(end - first) + 5;
    place = diagonalOf(i32At(job, JOB_DIAGONAL_AT), line, first, end);
    d = diagonal != 0 ? one<T>(diagonal + <usize>place * sizeof<T>()) : 1;
    divides = (reinterpret<i64>(d) << 12) == 0 && abs(d) > SMALL && abs(d) < LARGE;
    const r = 1 / d, square = terms * terms;
    for (let lane = 0; lane < count; lane += 8) {
      const own = <usize>lane * sizeof<T>(), p = at + own, z = origin + own, g = gridAt(lane);
      let b = load<T>(p), s0 = add(v128.load(g), b), c0 = sub(b, sub(s0, v128.load(g))), left0 = v128.xor(s0, v128.load(g));
      b = load2<T>(p);
      let s1 = add(v128.load(g, 16), b), c1 = sub(b, sub(s1, v128.load(g, 16))), left1 = v128.xor(s1, v128.load(g, 16));
      b = load4<T>(p);
      let s2 = add(v128.load(g, 32), b), c2 = sub(b, sub(s2, v128.load(g, 32))), left2 = v128.xor(s2, v128.load(g, 32));
      b = load6<T>(p);
      let s3 = add(v128.load(g, 48), b), c3 = sub(b, sub(s3, v128.load(g, 48))), left3 = v128.xor(s3, v128.load(g, 48));
      for (let i = index, from = value; i != last; i += 4, from += sizeof<T>()) {
        const a = splat(one<T>(from)), row = z + <usize>i32.load(i) * size;
        let w = load<T>(row), t = isFused() ? nmadd(a, w, s0) : sub(s0, mul(a, w));
        c0 = add(c0, lost<T>(a, w, sub(s0, t))); left0 = v128.or(left0, v128.xor(t, v128.load(g))); s0 = t;
        w = load2<T>(row); t = isFused() ? nmadd(a, w, s1) : sub(s1, mul(a, w));
        c1 = add(c1, lost<T>(a, w, sub(s1, t))); left1 = v128.or(left1, v128.xor(t, v128.load(g, 16))); s1 = t;
        w = load4<T>(row); t = isFused() ? nmadd(a, w, s2) : sub(s2, mul(a, w));
        c2 = add(c2, lost<T>(a, w, sub(s2, t))); left2 = v128.or(left2, v128.xor(t, v128.load(g, 32))); s2 = t;
        w = load6<T>(row); t = isFused() ? nmadd(a, w, s3) : sub(s3, mul(a, w));
        c3 = add(c3, lost<T>(a, w, sub(s3, t))); left3 = v128.or(left3, v128.xor(t, v128.load(g, 48))); s3 = t;
      }
      finishPair<T>(job, line, lane, p, s0, c0, left0, square, r);
      finishPair<T>(job, line, lane + 2, p + 2 * sizeof<T>(), s1, c1, left1, square, r);
      finishPair<T>(job, line, lane + 4, p + 4 * sizeof<T>(), s2, c2, left2, square, r);
      finishPair<T>(job, line, lane + 6, p + 6 * sizeof<T>(), s3, c3, left3, square, r);
    }
    if (order != 0) memory.copy(x + <usize>k * size, at, size);
  }
}
@inline function lost<T>(a: v128, w: v128, q: v128): v128 { return isFused() ? nmadd(a, w, q) : minusProduct<T>(a, w, q); }

// The bytes of a row of unknowns, the unknowns, the diagonal, and of the current row the place of its diagonal entry, the entry, and whether
// it is a power of two, by which a rounded sum is divided exactly.
let size: usize = 0, x: usize = 0, diagonal: usize = 0, place: i32 = 0, d: f64 = 1, divides: bool = true;

// The entries of two columns, at p, from their sums.
@inline function finishPair<T>(job: usize, line: i32, lane: i32, p: usize, s: v128, c: v128, left: v128, square: f64, r: f64): void {
  const G = v128.load(gridAt(lane)), high = sub(s, G), bound = mul(splat(square), add(mul(G, splat(U * U / 1.5)), splat(f64.MIN_VALUE)));
  let v = splat(NaN);
  if (sizeof<T>() == 8) {
    v = diagonal != 0 ? quotientLanes(high, c, bound, splat(d), splat(r)) : roundedLanes(high, c, bound);
    v = v128.bitselect(v, splat(NaN), i64x2.eq(i64x2.shr_u(left, 52), i64x2.splat(0)));
    if (divides && hasNaN(v)) v = v128.bitselect(v, exactPair(job, line, lane, v128.load(p)), f64x2.eq(v, v));
    if (!hasNaN(v)) {
      v128.store(p, v);
      return;
    }
  }
  finishEntry<T>(job, line, lane, p, f64x2.extract_lane(v, 0), f64x2.extract_lane(high, 0), f64x2.extract_lane(c, 0), f64x2.extract_lane(bound, 0), i64x2.extract_lane(left, 0) >>> 52 == 0);
  finishEntry<T>(job, line, lane + 1, p + sizeof<T>(), f64x2.extract_lane(v, 1), f64x2.extract_lane(high, 1), f64x2.extract_lane(c, 1), f64x2.extract_lane(bound, 1), i64x2.extract_lane(left, 1) >>> 52 == 0);
}
// The entries of two columns whose sums s + c are exact; NaN for others. On grids, with small integers and powers of two on the diagonal, a
// quarter of all entries are ties. One by one they took a fifth of the time of 64 columns (5 points, 512 by 512).
function exactPair(job: usize, line: i32, lane: i32, b: v128): v128 {
  const end = endOf(job, line), unknowns = x + (<usize>lane << 3);
  let s = b, c = splat(0), proved = f64x2.eq(b, b);
  for (let i = firstOf(job, line), index = indexOf(job, line, i), value = addressAt(job, JOB_VALUES) + (<usize>i << 3); i < end; ++i, index += 4, value += 8) {
    const a = splat(f64.load(value)), z = v128.load(unknowns + <usize>(originOf(job, line) + i32.load(index)) * size), product = mul(a, z);
    const t = sub(s, product), error = sumError(s, f64x2.neg(product), t), excess = productExcess(a, z, product), c1 = add(c, error), c2 = add(c1, excess);
    const isProduct = v128.or(f64x2.gt(f64x2.abs(product), splat(MIN_PRODUCT)), v128.or(f64x2.eq(a, splat(0)), f64x2.eq(z, splat(0))));
    const isSum = f64x2.eq(v128.or(sumError(c, error, c1), sumError(c1, excess, c2)), splat(0));
    proved = v128.and(proved, v128.and(isProduct, isSum));
    s = t;
    c = c2;
  }
  // + 0 turns an exact zero into +0.
  const h = add(s, c), v = add(mul(h, splat(1 / d)), splat(0)), isZero = f64x2.eq(h, splat(0));
  return where(v128.and(proved, v128.or(isZero, v128.and(inRange(h), f64x2.gt(f64x2.abs(v), splat(SMALL))))), v);
}

function finishEntry<T>(job: usize, line: i32, lane: i32, p: usize, proved: f64, high: f64, low: f64, bound: f64, fits: bool): void {
  let v = proved;
  if (sizeof<T>() == 4 && fits) v = roundRow<T>(high, low, bound, diagonal, place);
  if (v != v) {
    setLastGrid(f64.load(gridAt(lane)));
    v = settleRow<T>(job, line, one<T>(p), fits, x + <usize>lane * sizeof<T>(), size);
    f64.store(gridAt(lane), lastGrid());
  }
  put<T>(p, v);
}
