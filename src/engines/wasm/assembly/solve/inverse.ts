// The inverses of the triangles of a factorization, for the certificate of solve() (routines/solve/certificate.ts): substitution with
// the columns of the identity, by blocks. Each entry is (delta_ij - sum_k t_ik x_kj) / t_ii, with the products subtracted one by one,
// as the bounds of the certificate assume.
import { JOB_B_ROW, JOB_C, JOB_C_ROW, JOB_N, JOB_OUT, JOB_WORK, JOB_WORK_SIZE } from "../layout";
import { STRIP, minusProduct, roundUp4, tile } from "./tile";
import { addressAt, i32At, take } from "../team";

@inline const BLOCK: i32 = 64;
@inline const COLUMNS: i32 = 128; // that a worker takes at a time; a block of the triangle is packed once for all of them
@inline const STRIPS: i32 = COLUMNS / 4;
@inline const PACKED: usize = <usize>(BLOCK * BLOCK) << 3;

@inline function stripSize(n: i32): usize { return <usize>roundUp4(n) * STRIP; }

/** Bytes of a worker's workspace: a packed block, and its invertColumns in strips of four. */
export function inverseWork(n: i32): usize { return PACKED + <usize>STRIPS * stripSize(n); }

// The triangle: n rows, `rowStride` bytes apart, padded with zero rows and columns to a multiple of four; a packed block; the columns
// of the inverse.
let W: usize = 0, rowStride: usize = 0, n: i32 = 0, packed: usize = 0, X: usize = 0;

@inline function at(i: i32, j: i32): usize { return W + <usize>i * rowStride + (<usize>j << 3); }

// Pack rows [i, iEnd) of columns [k, kEnd): for every four rows the four numbers of each column.
function pack(i: i32, iEnd: i32, k: i32, kEnd: i32): void {
  let to = packed;
  for (; i < iEnd; i += 4) {
    for (let p = at(i, k), end = at(i, kEnd); p != end; p += 8, to += 32) {
      f64.store(to, f64.load(p)); f64.store(to, f64.load(p + rowStride), 8);
      f64.store(to, f64.load(p + 2 * rowStride), 16); f64.store(to, f64.load(p + 3 * rowStride), 24);
    }
  }
}

// Subtract the products of the packed block with rows from k on from rows [i, iEnd) of all strips.
function subtract(i: i32, iEnd: i32, k: i32, depth: i32, strips: i32): void {
  const size = stripSize(n);
  let strip = X;
  for (let s = 0; s < strips; ++s, strip += size) {
    let a = packed;
    for (let r = i; r < iEnd; r += 4, a += <usize>depth * 32) tile<f64>(a, strip + <usize>k * STRIP, STRIP, strip + <usize>r * STRIP, STRIP, depth);
  }
}

@inline function splat(p: usize): v128 { return v128.load64_splat(p); }

// Solve for four unknowns of a strip with the unit triangle at (i, i). The products with earlier unknowns are subtracted already.
@inline function solveLower(i: i32, row: usize): void {
  const d = at(i, i);
  for (let h: usize = 0; h < STRIP; h += 16) {
    const p = row + h, x0 = v128.load(p);
    const x1 = minusProduct<f64>(v128.load(p, STRIP), splat(d + rowStride), x0);
    const x2 = minusProduct<f64>(minusProduct<f64>(v128.load(p, 2 * STRIP), splat(d + 2 * rowStride), x0), splat(d + 2 * rowStride + 8), x1);
    const x3 = minusProduct<f64>(minusProduct<f64>(minusProduct<f64>(v128.load(p, 3 * STRIP), splat(d + 3 * rowStride), x0), splat(d + 3 * rowStride + 8), x1), splat(d + 3 * rowStride + 16), x2);
    v128.store(p, x1, STRIP); v128.store(p, x2, 2 * STRIP); v128.store(p, x3, 3 * STRIP);
  }
}

// The zero diagonal of the padding counts as 1.
@inline function divisor(i: i32): v128 { return i < n ? splat(at(i, i)) : f64x2.splat(1); }

@inline function solveUpper(i: i32, row: usize): void {
  const d = at(i, i), d0 = divisor(i), d1 = divisor(i + 1), d2 = divisor(i + 2), d3 = divisor(i + 3);
  for (let h: usize = 0; h < STRIP; h += 16) {
    const p = row + h, x3 = f64x2.div(v128.load(p, 3 * STRIP), d3);
    const x2 = f64x2.div(minusProduct<f64>(v128.load(p, 2 * STRIP), splat(d + 2 * rowStride + 24), x3), d2);
    const x1 = f64x2.div(minusProduct<f64>(minusProduct<f64>(v128.load(p, STRIP), splat(d + rowStride + 24), x3), splat(d + rowStride + 16), x2), d1);
    const x0 = f64x2.div(minusProduct<f64>(minusProduct<f64>(minusProduct<f64>(v128.load(p), splat(d + 24), x3), splat(d + 16), x2), splat(d + 8), x1), d0);
    v128.store(p, x0); v128.store(p, x1, STRIP); v128.store(p, x2, 2 * STRIP); v128.store(p, x3, 3 * STRIP);
  }
}

// Solve with a packed diagonal block, for all strips.
function solveBlock(i: i32, iEnd: i32, upper: bool, strips: i32): void {
  const size = stripSize(n), wide = <usize>(iEnd - i) * 32;
  let strip = X;
  for (let s = 0; s < strips; ++s, strip += size) {
    if (upper) {
      let a = packed + <usize>((iEnd - i) >> 2) * wide;
      for (let r = iEnd - 4; r >= i; r -= 4) {
        a -= wide;
        tile<f64>(a + <usize>(r + 4 - i) * 32, strip + <usize>(r + 4) * STRIP, STRIP, strip + <usize>r * STRIP, STRIP, iEnd - r - 4);
        solveUpper(r, strip + <usize>r * STRIP);
      }
    } else {
      let a = packed;
      for (let r = i; r < iEnd; r += 4, a += wide) {
        tile<f64>(a, strip + <usize>i * STRIP, STRIP, strip + <usize>r * STRIP, STRIP, r - i);
        solveLower(r, strip + <usize>r * STRIP);
      }
    }
  }
}

// Store columns [c, cEnd), rows [from, to) of an inverse. Of a row that crosses the diagonal only the part in the triangle is stored.
function storeColumns(c: i32, cEnd: i32, from: i32, to: i32, upper: bool, out: usize, outStride: usize): void {
  const size = stripSize(n);
  let strip = X;
  for (let j = c; j < cEnd; j += 4, strip += size) {
    for (let i = from; i < to; ++i) {
      const p = strip + <usize>i * STRIP, q = out + <usize>i * outStride + (<usize>j << 3);
      if (upper ? i <= j : i > j + 3) {
        v128.store(q, v128.load(p));
        v128.store(q, v128.load(p, 16), 16);
      } else {
        for (let e = 0; e < 4; ++e) if (upper ? i <= j + e : i > j + e) f64.store(q + (<usize>e << 3), f64.load(p + (<usize>e << 3)));
      }
    }
  }
}

// COLUMNS columns of one of the inverses, from column c on.
function invertColumns(c: i32, upper: bool, out: usize, outStride: usize): void {
  const cEnd = min(c + COLUMNS, n), strips = (cEnd - c + 3) >> 2, rows = roundUp4(n), size = stripSize(n);
  const first = upper ? 0 : c & -BLOCK, last = upper ? min((cEnd + BLOCK - 1) & -BLOCK, rows) : rows;
  for (let s = 0, strip = X; s < strips; ++s, strip += size) {
    memory.fill(strip + <usize>first * STRIP, 0, <usize>(last - first) * STRIP);
    for (let e = 0; e < 4; ++e) {
      const j = c + 4 * s + e;
      if (j < cEnd) f64.store(strip + <usize>j * STRIP + (<usize>e << 3), 1);
    }
  }
  const blocks = (last - first + BLOCK - 1) / BLOCK;
  for (let b = 0; b < blocks; ++b) {
    const i = first + (upper ? blocks - 1 - b : b) * BLOCK, iEnd = min(i + BLOCK, last);
    const from = upper ? i + BLOCK : first, to = upper ? last : i;
    for (let k = from; k < to; k += BLOCK) {
      const kEnd = min(k + BLOCK, last);
      pack(i, iEnd, k, kEnd);
      subtract(i, iEnd, k, kEnd - k, strips);
    }
    pack(i, iEnd, i, iEnd);
    solveBlock(i, iEnd, upper, strips);
  }
  storeColumns(c, cEnd, first, min(last, n), upper, out, outStride);
}

/** Both inverses, by all workers, the longest invertColumns of each first. */
export function invert(job: usize, worker: i32): void {
  W = addressAt(job, JOB_C); rowStride = addressAt(job, JOB_C_ROW); n = i32At(job, JOB_N);
  packed = addressAt(job, JOB_WORK) + <usize>worker * addressAt(job, JOB_WORK_SIZE);
  X = packed + PACKED;
  const groups = (n + COLUMNS - 1) / COLUMNS;
  while (true) {
    const t = take(job, 1);
    if (t >= 2 * groups) return;
    const upper = (t & 1) == 0, group = t >> 1;
    invertColumns((upper ? groups - 1 - group : group) * COLUMNS, upper, addressAt(job, JOB_OUT), addressAt(job, JOB_B_ROW));
  }
}
