// C := alpha A B + beta C, in tiles of C: strip() on a block of A's rows and packed columns of B. The grid of an entry is
// known beforehand, from the largest of its row of A and the sum of its column of B in magnitude, so no sum is checked.
import { BOUND_SLACK, certifiedCombination, put, setRecord } from "../exact/certificate";
import { frame } from "../frame";
import { FRAME, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_ALPHA, JOB_B, JOB_B_COL, JOB_B_ROW, JOB_BETA, JOB_C, JOB_C_COL, JOB_C_ROW, JOB_K, JOB_M, JOB_N, JOB_WORK, ROUND, SCRATCH_X, SCRATCH_Y } from "../layout";
import { binade, powerOfTwo } from "../grid";
import { forget, skipFilter, remember } from "./rows";
import { encloseSliced, slice } from "./slices";
import { setScalars, setTerms, settle } from "../exact/settle";
import { one } from "../simd";
import { REST, SUMS, Unchecked, restBound, startSum, strip } from "./strip";
import { addressAt, barrier, i32At, take } from "../team";

// Rows and columns of a tile, and products at a time. The packed parts of A and B are 256 KiB each, and so are the sums.
@inline const TALL: i32 = 128;
@inline const WIDE: i32 = 128;
@inline const DEEP: i32 = 256;
@inline function packedA(): usize { return frame + SCRATCH_X; }
@inline function packedB(): usize { return frame + SCRATCH_X + TALL * DEEP * 8; }
// Which entries of a tile are still open, a byte each, at the end of the frame.
@inline function open(i: i32, j: i32): usize { return frame + FRAME - TALL * WIDE + <usize>(j * TALL + i); }
@inline function sums(): usize { return frame + SCRATCH_Y; }

// Exponents of rows of A and columns of B behind one another, 4 bytes each; this one makes any grid NaN.
@inline const FAR: i32 = 100000;
function exponentOf(size: f64): i32 { return size < 1e290 ? binade(size) : FAR; }

// Of `count` lines of n entries: the exponents of the largest magnitudes, or of the sums of magnitudes. The inner loop runs
// along the memory.
function measure<T>(p: usize, line: usize, step: usize, count: i32, n: i32, sum: bool, to: usize): void {
  const sizes = frame + SCRATCH_Y;
  memory.fill(sizes, 0, <usize>count << 3);
  const along = step == sizeof<T>(), outer = along ? count : n, inner = along ? n : count;
  const outerStep = along ? line : step, innerStep = along ? step : line;
  for (let i = 0; i < outer; ++i, p += outerStep) {
    let q = p;
    for (let k = 0; k < inner; ++k, q += innerStep) {
      const at = sizes + (<usize>(along ? i : k) << 3), size = abs(one<T>(q));
      f64.store(at, sum ? f64.load(at) + size : max(f64.load(at), size));
    }
  }
  for (let i = 0; i < count; ++i) i32.store(to + (<usize>i << 2), exponentOf(f64.load(sizes + (<usize>i << 3)) * BOUND_SLACK));
}

// A rows by cols block as binary64, line after line of `width` numbers, with zeros behind the columns there are.
function pack<T>(p: usize, rowStride: usize, colStride: usize, rows: i32, cols: i32, width: i32, to: usize): void {
  if (colStride == sizeof<T>()) {
    for (let i = 0; i < rows; ++i, p += rowStride) {
      let q = p;
      for (let k = 0; k < width; ++k, q += colStride, to += 8) f64.store(to, k < cols ? one<T>(q) : 0);
    }
  } else {
    for (let k = 0; k < width; ++k, p += colStride, to += 8) {
      let q = p, t = to;
      for (let i = 0; i < rows; ++i, q += rowStride, t += <usize>width << 3) f64.store(t, k < cols ? one<T>(q) : 0);
    }
  }
}

function gridOf(row: i32, column: i32): f64 {
  const k = row + column + 2;
  return k > 960 ? NaN : 1.5 * powerOfTwo(max(k, -900));
}

// The tile with rows from i0 and columns from j0 on.
function tile<T>(job: usize, i0: i32, j0: i32): void {
  const M = i32At(job, JOB_M), N = i32At(job, JOB_N), K = i32At(job, JOB_K);
  const A = addressAt(job, JOB_A), aRow = addressAt(job, JOB_A_ROW), aCol = addressAt(job, JOB_A_COL);
  const B = addressAt(job, JOB_B), bRow = addressAt(job, JOB_B_ROW), bCol = addressAt(job, JOB_B_COL);
  const rowExponents = addressAt(job, JOB_WORK), colExponents = rowExponents + (<usize>M << 2);
  const rows = min(TALL, M - i0), cols = min(WIDE, N - j0), groups = (cols + 7) >> 3;
  const direct = sizeof<T>() == 8 && aCol == 8; // rows of A can be read where they are
  const skip = skipFilter(); // slices and settle() are left
  for (let i = 0; i < rows && !skip; ++i) {
    const row = i32.load(rowExponents + (<usize>(i0 + i) << 2));
    for (let j = 0; j < groups << 3; ++j) {
      const p = sums() + <usize>(((j >> 3) * TALL + i) * SUMS + ((j & 7) << 3));
      startSum(p, 0, j < cols ? gridOf(row, i32.load(colExponents + (<usize>(j0 + j) << 2))) : 1.5);
    }
  }
  for (let k = 0; k < K && !skip; k += DEEP) {
    const deep = min(DEEP, K - k);
    let a = A + <usize>i0 * aRow + <usize>k * aCol, line = aRow;
    if (!direct) {
      pack<T>(a, aRow, aCol, rows, deep, deep, packedA());
      a = packedA();
      line = <usize>deep << 3;
    }
    for (let g = 0; g < groups; ++g) {
      const j = j0 + 8 * g;
      pack<T>(B + <usize>k * bRow + <usize>j * bCol, bRow, bCol, deep, min(8, N - j), 8, packedB());
      for (let i = 0, p = a; i < rows; ++i, p += line) strip<f64, Unchecked>(p, 8, packedB(), 64, deep, sums() + <usize>((g * TALL + i) * SUMS));
    }
  }
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), steps = <f64>(K + 1), single = sizeof<T>() == 4;
  const C = addressAt(job, JOB_C), cRow = addressAt(job, JOB_C_ROW), cCol = addressAt(job, JOB_C_COL);
  let left = rows * cols, proved = 0; // the filter was enough, or would have been
  memory.fill(open(0, 0), 1, TALL * WIDE);
  for (let j = 0; j < cols && !skip; ++j) {
    const column = i32.load(colExponents + (<usize>(j0 + j) << 2));
    let to = C + <usize>i0 * cRow + <usize>(j0 + j) * cCol;
    for (let i = 0; i < rows; ++i, to += cRow) {
      const p = sums() + <usize>(((j >> 3) * TALL + i) * SUMS + ((j & 7) << 3));
      const G = gridOf(i32.load(rowExponents + (<usize>(i0 + i) << 2)), column);
      setRecord(frame, G - f64.load(p), -f64.load(p, REST), restBound(G, steps));
      const v = certifiedCombination(frame, alpha, beta, beta == 0 ? 0 : one<T>(to), single);
      if (v != v) continue;
      put<T>(to, v);
      store<u8>(open(i, j), 0);
      --left; ++proved;
    }
  }
  // Cutting costs as much as some entries of every line.
  const sliced = left >= (rows + cols) << 5 && slice<T>(A + <usize>i0 * aRow, aRow, aCol, B + <usize>j0 * bCol, bRow, bCol, rows, cols, K, rowExponents + (<usize>i0 << 2), colExponents + (<usize>j0 << 2));
  for (let j = 0; j < cols && left > 0; ++j) {
    const column = i32.load(colExponents + (<usize>(j0 + j) << 2));
    let to = C + <usize>i0 * cRow + <usize>(j0 + j) * cCol, gathered = false;
    for (let i = 0; i < rows; ++i, to += cRow) {
      if (load<u8>(open(i, j)) == 0) continue;
      const row = i32.load(rowExponents + (<usize>(i0 + i) << 2)), y: f64 = beta == 0 ? 0 : one<T>(to);
      let v = sliced && encloseSliced(frame, i, j, row, column) ? certifiedCombination(frame, alpha, beta, y, single) : NaN;
      if (v != v) {
        // Where one entry of a column is open, others may be: the column is gathered once if there is room.
        const b = B + <usize>(j0 + j) * bCol, room = K <= TALL * DEEP;
        if (room && !gathered) { pack<T>(b, bCol, bRow, 1, K, K, packedA()); gathered = true; }
        if (sizeof<T>() == 8) setTerms(A + <usize>(i0 + i) * aRow, aCol, room ? packedA() : b, room ? 8 : bRow, K);
        else setTerms(A + <usize>(i0 + i) * aRow, aCol, b, bRow, K);
        setScalars(alpha, beta, y, 0);
        v = settle<T>(ROUND, 1, single);
      }
      put<T>(to, v);
      proved += <i32>(skip && abs(v) > restBound(gridOf(row, column), steps) * 3.6e16); // 2^55
    }
  }
  remember(proved);
}

export function gemm<T>(job: usize): void {
  const M = i32At(job, JOB_M), N = i32At(job, JOB_N), K = i32At(job, JOB_K), work = addressAt(job, JOB_WORK);
  const across = (N + WIDE - 1) / WIDE, down = (M + TALL - 1) / TALL;
  while (true) {
    const k = take(job, 1);
    if (k >= down + across) break;
    const at = k < down ? k * TALL : (k - down) * WIDE;
    if (k < down) measure<T>(addressAt(job, JOB_A) + <usize>at * addressAt(job, JOB_A_ROW), addressAt(job, JOB_A_ROW), addressAt(job, JOB_A_COL), min(TALL, M - at), K, false, work + (<usize>at << 2));
    else measure<T>(addressAt(job, JOB_B) + <usize>at * addressAt(job, JOB_B_COL), addressAt(job, JOB_B_COL), addressAt(job, JOB_B_ROW), min(WIDE, N - at), K, true, work + (<usize>(M + at) << 2));
  }
  barrier(job, 0);
  forget();
  while (true) {
    const k = take(job, 1);
    if (k >= down * across) break;
    tile<T>(job, k / across * TALL, k % across * WIDE);
  }
}
