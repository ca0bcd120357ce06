// C := alpha A B + beta C, in tiles of C: strip() on a block of rows of A and packed columns of B. The grid of an entry is known
// beforehand, from the largest magnitude in its row of A and the sum of magnitudes in its column of B, so no sum needs a check. Tiles
// whose sums cancel go through slices.ts; what remains is settled entry by entry.
import { BOUND_SLACK, certifiedCombination, put, setRecord } from "../exact/certificate";
import { frame } from "../frame";
import { FRAME, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_ALPHA, JOB_B, JOB_B_COL, JOB_B_ROW, JOB_BETA, JOB_C, JOB_C_COL, JOB_C_ROW, JOB_K, JOB_M, JOB_N, JOB_WORK, ROUND, SCRATCH_X, SCRATCH_Y } from "../layout";
import { MAX_TERM, MIN_GRID, binade, grid } from "../grid";
import { recordDecided, resetHistory, skipFilter } from "./history";
import { bitBytes, markNonzeros, meet } from "./nonzeros";
import { encloseSliced, multiplySliced } from "./slices";
import { setScalars, setTerms, settle } from "../exact/settle";
import { one } from "../simd";
import { REST, SUMS, Unchecked, restBound, startSum, strip } from "./strip";
import { addressAt, barrier, i32At, take } from "../team";

// Rows and columns of a tile, and products per entry at a time. The packed parts of A and B are 256 KiB each, and so are the sums.
@inline const TILE_ROWS: i32 = 128;
@inline const TILE_COLUMNS: i32 = 128;
@inline const TILE_DEPTH: i32 = 256;
@inline function packedA(): usize { return frame + SCRATCH_X; }
@inline function packedB(): usize { return frame + SCRATCH_X + TILE_ROWS * TILE_DEPTH * 8; }
// A byte for each entry of a tile, at the end of the frame: whether the entry is still undecided.
@inline function undecided(i: i32, j: i32): usize { return frame + FRAME - TILE_ROWS * TILE_COLUMNS + <usize>(j * TILE_ROWS + i); }
@inline function sums(): usize { return frame + SCRATCH_Y; }
// The nonzero entries of the rows of A and of the columns of B, after the products: for up to MAX_MARKED terms they fit in the place of
// packedB().
@inline const MIN_MARKED: i32 = 256; // undecided entries of a tile that make marking worthwhile
@inline const MAX_MARKED: i32 = 8192;
@inline function nonzerosA(i: i32, K: i32): usize { return packedB() + <usize>i * bitBytes(K); }
@inline function nonzerosB(j: i32, K: i32): usize { return nonzerosA(TILE_ROWS + j, K); }

// The exponents of the rows of A and then of the columns of B, 4 bytes each. OUT_OF_RANGE makes every grid NaN.
@inline const OUT_OF_RANGE: i32 = 100000;
function exponentOf(size: f64): i32 { return size < MAX_TERM ? binade(size) : OUT_OF_RANGE; }

// The exponents of `count` rows or columns of n entries each: of their largest magnitudes or, if `sum`, of their sums of magnitudes.
// They are `stride` bytes apart, and their entries `step` bytes. The inner loop runs over contiguous memory.
function measure<T>(p: usize, stride: usize, step: usize, count: i32, n: i32, sum: bool, to: usize): void {
  const sizes = frame + SCRATCH_Y;
  memory.fill(sizes, 0, <usize>count << 3);
  const along = step == sizeof<T>(), outer = along ? count : n, inner = along ? n : count;
  const outerStep = along ? stride : step, innerStep = along ? step : stride;
  for (let i = 0; i < outer; ++i, p += outerStep) {
    let q = p;
    for (let k = 0; k < inner; ++k, q += innerStep) {
      const at = sizes + (<usize>(along ? i : k) << 3), size = abs(one<T>(q));
      f64.store(at, sum ? f64.load(at) + size : max(f64.load(at), size));
    }
  }
  for (let i = 0; i < count; ++i) i32.store(to + (<usize>i << 2), exponentOf(f64.load(sizes + (<usize>i << 3)) * BOUND_SLACK));
}

// Pack a block as binary64, row by row, each row padded with zeros to `width` numbers.
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

// The grid of an entry, by the exponents of its row and column.
function gridOf(row: i32, column: i32): f64 {
  const k = row + column + 2;
  return k > 960 ? NaN : grid(max(k, MIN_GRID));
}

// The tile whose first entry is (i0, j0).
function computeTile<T>(job: usize, i0: i32, j0: i32): void {
  const M = i32At(job, JOB_M), N = i32At(job, JOB_N), K = i32At(job, JOB_K);
  const A = addressAt(job, JOB_A), aRow = addressAt(job, JOB_A_ROW), aCol = addressAt(job, JOB_A_COL);
  const B = addressAt(job, JOB_B), bRow = addressAt(job, JOB_B_ROW), bCol = addressAt(job, JOB_B_COL);
  const rowExponents = addressAt(job, JOB_WORK), colExponents = rowExponents + (<usize>M << 2);
  const rows = min(TILE_ROWS, M - i0), cols = min(TILE_COLUMNS, N - j0), groups = (cols + 7) >> 3;
  const inPlace = sizeof<T>() == 8 && aCol == 8; // rows of A can be read in place
  const skip = skipFilter(); // go on to slices and settle()
  for (let i = 0; i < rows && !skip; ++i) {
    const row = i32.load(rowExponents + (<usize>(i0 + i) << 2));
    for (let j = 0; j < groups << 3; ++j) {
      const p = sums() + <usize>(((j >> 3) * TILE_ROWS + i) * SUMS + ((j & 7) << 3));
      startSum(p, 0, j < cols ? gridOf(row, i32.load(colExponents + (<usize>(j0 + j) << 2))) : 1.5);
    }
  }
  for (let k = 0; k < K && !skip; k += TILE_DEPTH) {
    const depth = min(TILE_DEPTH, K - k);
    let a = A + <usize>i0 * aRow + <usize>k * aCol, stride = aRow;
    if (!inPlace) {
      pack<T>(a, aRow, aCol, rows, depth, depth, packedA());
      a = packedA();
      stride = <usize>depth << 3;
    }
    for (let g = 0; g < groups; ++g) {
      const j = j0 + 8 * g;
      pack<T>(B + <usize>k * bRow + <usize>j * bCol, bRow, bCol, depth, min(8, N - j), 8, packedB());
      for (let i = 0, p = a; i < rows; ++i, p += stride) strip<f64, Unchecked>(p, 8, packedB(), 64, depth, sums() + <usize>((g * TILE_ROWS + i) * SUMS));
    }
  }
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), steps = <f64>(K + 1), single = sizeof<T>() == 4;
  const C = addressAt(job, JOB_C), cRow = addressAt(job, JOB_C_ROW), cCol = addressAt(job, JOB_C_COL);
  let left = rows * cols, decided = 0; // entries that the filter decided, or would have decided
  memory.fill(undecided(0, 0), 1, TILE_ROWS * TILE_COLUMNS);
  for (let j = 0; j < cols && !skip; ++j) {
    const column = i32.load(colExponents + (<usize>(j0 + j) << 2));
    let to = C + <usize>i0 * cRow + <usize>(j0 + j) * cCol;
    for (let i = 0; i < rows; ++i, to += cRow) {
      const p = sums() + <usize>(((j >> 3) * TILE_ROWS + i) * SUMS + ((j & 7) << 3));
      const G = gridOf(i32.load(rowExponents + (<usize>(i0 + i) << 2)), column);
      setRecord(frame, G - f64.load(p), -f64.load(p, REST), restBound(G, steps));
      const v = certifiedCombination(frame, alpha, beta, beta == 0 ? 0 : one<T>(to), single);
      if (v != v) continue;
      put<T>(to, v);
      store<u8>(undecided(i, j), 0);
      --left; ++decided;
    }
  }
  // Sums without a nonzero product are exactly zero. (With an infinity or a NaN the exponent is out of range.) Marking costs 5 % of a tile.
  if (left >= MIN_MARKED && K <= MAX_MARKED && alpha - alpha == 0) {
    markNonzeros<T>(A + <usize>i0 * aRow, aRow, aCol, rows, K, nonzerosA(0, K));
    markNonzeros<T>(B + <usize>j0 * bCol, bCol, bRow, cols, K, nonzerosB(0, K));
    for (let j = 0; j < cols; ++j) {
      let to = C + <usize>i0 * cRow + <usize>(j0 + j) * cCol;
      for (let i = 0; i < rows; ++i, to += cRow) {
        const inRange = i32.load(rowExponents + (<usize>(i0 + i) << 2)) + i32.load(colExponents + (<usize>(j0 + j) << 2)) < OUT_OF_RANGE >> 1;
        if (load<u8>(undecided(i, j)) == 0 || !inRange || meet(nonzerosA(i, K), nonzerosB(j, K), K)) continue;
        setRecord(frame, 0, 0, 0);
        const v = certifiedCombination(frame, 1, beta, beta == 0 ? 0 : one<T>(to), single);
        if (v != v) continue;
        put<T>(to, v);
        store<u8>(undecided(i, j), 0);
        --left; ++decided;
      }
    }
  }
  // Slicing costs as much as settling 32 entries of every row and column.
  const sliced = left >= (rows + cols) << 5 && multiplySliced<T>(A + <usize>i0 * aRow, aRow, aCol, B + <usize>j0 * bCol, bRow, bCol, rows, cols, K, rowExponents + (<usize>i0 << 2), colExponents + (<usize>j0 << 2));
  for (let j = 0; j < cols && left > 0; ++j) {
    const column = i32.load(colExponents + (<usize>(j0 + j) << 2));
    let to = C + <usize>i0 * cRow + <usize>(j0 + j) * cCol, packed = false;
    for (let i = 0; i < rows; ++i, to += cRow) {
      if (load<u8>(undecided(i, j)) == 0) continue;
      const row = i32.load(rowExponents + (<usize>(i0 + i) << 2)), y: f64 = beta == 0 ? 0 : one<T>(to);
      let v = sliced && encloseSliced(frame, i, j, row, column) ? certifiedCombination(frame, alpha, beta, y, single) : NaN;
      if (v != v) {
        // If one entry of a column is undecided, others may be: the column is packed once if there is room.
        const b = B + <usize>(j0 + j) * bCol, room = K <= TILE_ROWS * TILE_DEPTH;
        if (room && !packed) { pack<T>(b, bCol, bRow, 1, K, K, packedA()); packed = true; }
        if (sizeof<T>() == 8) setTerms(A + <usize>(i0 + i) * aRow, aCol, room ? packedA() : b, room ? 8 : bRow, K);
        else setTerms(A + <usize>(i0 + i) * aRow, aCol, b, bRow, K);
        setScalars(alpha, beta, y, 0);
        v = settle<T>(ROUND, 1, single);
      }
      put<T>(to, v);
      decided += <i32>(skip && abs(v) > restBound(gridOf(row, column), steps) * 3.6e16); // 2^55
    }
  }
  recordDecided(decided);
}

export function gemm<T>(job: usize): void {
  const M = i32At(job, JOB_M), N = i32At(job, JOB_N), K = i32At(job, JOB_K), work = addressAt(job, JOB_WORK);
  const across = (N + TILE_COLUMNS - 1) / TILE_COLUMNS, down = (M + TILE_ROWS - 1) / TILE_ROWS;
  while (true) {
    const k = take(job, 1);
    if (k >= down + across) break;
    const at = k < down ? k * TILE_ROWS : (k - down) * TILE_COLUMNS;
    if (k < down) measure<T>(addressAt(job, JOB_A) + <usize>at * addressAt(job, JOB_A_ROW), addressAt(job, JOB_A_ROW), addressAt(job, JOB_A_COL), min(TILE_ROWS, M - at), K, false, work + (<usize>at << 2));
    else measure<T>(addressAt(job, JOB_B) + <usize>at * addressAt(job, JOB_B_COL), addressAt(job, JOB_B_COL), addressAt(job, JOB_B_ROW), min(TILE_COLUMNS, N - at), K, true, work + (<usize>(M + at) << 2));
  }
  barrier(job, 0);
  resetHistory();
  while (true) {
    const k = take(job, 1);
    if (k >= down * across) break;
    computeTile<T>(job, k / across * TILE_ROWS, k % across * TILE_COLUMNS);
  }
}
