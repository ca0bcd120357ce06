// The plain binary64 kernels that the exact dense routines are measured against, in AssemblyScript, over row-major
// matrices whose orders are multiples of 4. Every product and sum is rounded; with relaxed SIMD, a multiply-add is rounded once.
// Lengths and leading dimensions are counted in entries.

@inline const TILE: usize = 4;
@inline const PANEL: usize = 32; // columns that LU factors before it updates the rest
@inline const DEPTH: usize = 256; // products that gemm adds at a time: a strip of 4 is 8 KiB, in the first-level cache
@inline const HEIGHT: usize = 64; // of the block of A that is kept packed: 128 KiB, in the second-level cache
@inline const WIDTH: usize = 64; // columns of LU's update at a time: 16 KiB packed, in the first-level cache

@inline function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f64x2.relaxed_madd(a, b, c) : f64x2.add(f64x2.mul(a, b), c);
}

@inline function zero(): v128 {
  return f64x2.splat(0);
}

// ---------------------------------------------------------------- matrix by vector

@inline function total(a: v128, b: v128): f64 {
  const sum = f64x2.add(a, b);
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

// The products of four rows with the first n entries of x, to `to`.
@inline function fourRows(pa: usize, ld: usize, px: usize, n: usize, to: usize): void {
  let p0 = pa, p1 = p0 + ld * 8, p2 = p1 + ld * 8, p3 = p2 + ld * 8;
  let a0 = zero(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  for (const end = px + n * 8; px !== end; px += 32, p0 += 32, p1 += 32, p2 += 32, p3 += 32) {
    let x = v128.load(px);
    a0 = multiplyAdd(v128.load(p0), x, a0);
    a1 = multiplyAdd(v128.load(p1), x, a1);
    a2 = multiplyAdd(v128.load(p2), x, a2);
    a3 = multiplyAdd(v128.load(p3), x, a3);
    x = v128.load(px, 16);
    b0 = multiplyAdd(v128.load(p0, 16), x, b0);
    b1 = multiplyAdd(v128.load(p1, 16), x, b1);
    b2 = multiplyAdd(v128.load(p2, 16), x, b2);
    b3 = multiplyAdd(v128.load(p3, 16), x, b3);
  }
  f64.store(to, total(a0, b0));
  f64.store(to, total(a1, b1), 8);
  f64.store(to, total(a2, b2), 16);
  f64.store(to, total(a3, b3), 24);
}

/** y := A x, order n. */
export function gemv(pa: usize, px: usize, py: usize, n: usize): void {
  for (let i: usize = 0; i < n; i += 4) fourRows(pa + i * n * 8, n, px, n, py + i * 8);
}

/** y := A' x, order n: four rows at a time are added to y. */
export function gemvTransposed(pa: usize, px: usize, py: usize, n: usize): void {
  memory.fill(py, 0, n * 8);
  for (let i: usize = 0; i < n; i += 4, px += 32) {
    const x0 = v128.load64_splat(px), x1 = v128.load64_splat(px, 8), x2 = v128.load64_splat(px, 16), x3 = v128.load64_splat(px, 24);
    let p0 = pa + i * n * 8, p1 = p0 + n * 8, p2 = p1 + n * 8, p3 = p2 + n * 8;
    for (let p = py, end = py + n * 8; p !== end; p += 32, p0 += 32, p1 += 32, p2 += 32, p3 += 32) {
      let y = multiplyAdd(v128.load(p0), x0, v128.load(p));
      let z = multiplyAdd(v128.load(p0, 16), x0, v128.load(p, 16));
      y = multiplyAdd(v128.load(p1), x1, y);
      z = multiplyAdd(v128.load(p1, 16), x1, z);
      y = multiplyAdd(v128.load(p2), x2, y);
      z = multiplyAdd(v128.load(p2, 16), x2, z);
      v128.store(p, multiplyAdd(v128.load(p3), x3, y));
      v128.store(p, multiplyAdd(v128.load(p3, 16), x3, z), 16);
    }
  }
}

/** x := the solution of L x = b, L the lower triangle of a matrix of order n: four rows at a time. */
export function trsv(pt: usize, pb: usize, px: usize, n: usize): void {
  for (let i: usize = 0; i < n; i += 4) {
    fourRows(pt + i * n * 8, n, px, i, px + i * 8);
    for (let k = i; k < i + 4; k++) {
      const row = pt + k * n * 8;
      let s = f64.load(pb + k * 8) - f64.load(px + k * 8);
      for (let j = i; j < k; j++) s -= f64.load(row + j * 8) * f64.load(px + j * 8);
      f64.store(px + k * 8, s / f64.load(row + k * 8));
    }
  }
}

// ---------------------------------------------------------------- matrix by matrix

// Strips of four rows of `scale` times a matrix, each stored by columns.
function packRows(from: usize, ld: usize, rows: usize, cols: usize, to: usize, scale: f64): void {
  for (let i: usize = 0; i < rows; i += TILE) {
    let p0 = from + i * ld * 8, p1 = p0 + ld * 8, p2 = p1 + ld * 8, p3 = p2 + ld * 8;
    for (const end = to + cols * 32; to !== end; to += 32, p0 += 8, p1 += 8, p2 += 8, p3 += 8) {
      f64.store(to, scale * f64.load(p0));
      f64.store(to, scale * f64.load(p1), 8);
      f64.store(to, scale * f64.load(p2), 16);
      f64.store(to, scale * f64.load(p3), 24);
    }
  }
}

// Strips of four columns of a matrix, each stored by rows.
function packColumns(from: usize, ld: usize, rows: usize, cols: usize, to: usize): void {
  for (let j: usize = 0; j < cols; j += TILE) {
    let p = from + j * 8;
    for (const end = to + rows * 32; to !== end; to += 32, p += ld * 8) {
      v128.store(to, v128.load(p));
      v128.store(to, v128.load(p, 16), 16);
    }
  }
}

/** C := C + A B for a tile of 4 by 4, A and B packed, k deep: eight sums in registers. */
export function tile(pa: usize, pb: usize, k: usize, pc: usize, ld: usize): void {
  let c0 = zero(), c1 = c0, c2 = c0, c3 = c0, d0 = c0, d1 = c0, d2 = c0, d3 = c0;
  for (const end = pb + k * 32; pb !== end; pa += 32, pb += 32) {
    const b = v128.load(pb), e = v128.load(pb, 16);
    let a = v128.load64_splat(pa);
    c0 = multiplyAdd(a, b, c0);
    d0 = multiplyAdd(a, e, d0);
    a = v128.load64_splat(pa, 8);
    c1 = multiplyAdd(a, b, c1);
    d1 = multiplyAdd(a, e, d1);
    a = v128.load64_splat(pa, 16);
    c2 = multiplyAdd(a, b, c2);
    d2 = multiplyAdd(a, e, d2);
    a = v128.load64_splat(pa, 24);
    c3 = multiplyAdd(a, b, c3);
    d3 = multiplyAdd(a, e, d3);
  }
  addRow(pc, c0, d0);
  addRow(pc + ld * 8, c1, d1);
  addRow(pc + ld * 16, c2, d2);
  addRow(pc + ld * 24, c3, d3);
}

@inline function addRow(p: usize, a: v128, b: v128): void {
  v128.store(p, f64x2.add(v128.load(p), a));
  v128.store(p, f64x2.add(v128.load(p, 16), b), 16);
}

// C := C + A B, both packed, k deep.
@inline function addProduct(pa: usize, pb: usize, k: usize, pc: usize, ld: usize, rows: usize, cols: usize): void {
  for (let j: usize = 0; j < cols; j += TILE, pb += k * 32) {
    for (let i: usize = 0; i < rows; i += TILE) tile(pa + i * k * 8, pb, k, pc + (i * ld + j) * 8, ld);
  }
}

/** C := A B, order n. `work` has room for (n + 64) 256 entries. */
export function gemm(pa: usize, pb: usize, pc: usize, n: usize, work: usize): void {
  memory.fill(pc, 0, n * n * 8);
  for (let k: usize = 0; k < n; k += DEPTH) {
    const depth = min(DEPTH, n - k);
    const packed = work + depth * n * 8;
    packColumns(pb + k * n * 8, n, depth, n, work);
    for (let i: usize = 0; i < n; i += HEIGHT) {
      const rows = min(HEIGHT, n - i);
      packRows(pa + (i * n + k) * 8, n, rows, depth, packed, 1);
      addProduct(packed, work, depth, pc + i * n * 8, n, rows, n);
    }
  }
}

// ---------------------------------------------------------------- LU

@inline function swapRows(p: usize, q: usize, cols: usize): void {
  for (const end = p + cols * 8; p !== end; p += 32, q += 32) {
    const a = v128.load(p), b = v128.load(p, 16);
    v128.store(p, v128.load(q));
    v128.store(p, v128.load(q, 16), 16);
    v128.store(q, a);
    v128.store(q, b, 16);
  }
}

// Factor a panel stored by rows, in place; the pivots are rows of the panel. 0, or 1 + the column of a zero pivot.
function factorPanel(panel: usize, rows: usize, cols: usize, pivots: usize): usize {
  const step = cols * 8;
  const end = panel + rows * step;
  for (let j: usize = 0; j < cols; j++) {
    const top = panel + j * step;
    let pivot = top, largest = abs(f64.load(top + j * 8));
    for (let p = top + step; p !== end; p += step) {
      const size = abs(f64.load(p + j * 8));
      if (size > largest) largest = size, pivot = p;
    }
    if (largest === 0) return j + 1;
    i32.store(pivots + j * 4, ((pivot - panel) / step) as i32);
    if (pivot !== top) swapRows(top, pivot, cols);
    const diagonal = f64.load(top + j * 8);
    for (let p = top + step; p !== end; p += step) {
      const l = f64.load(p + j * 8) / diagonal;
      const minus = f64x2.splat(-l);
      // Starts at the pair of columns that holds j + 1. The pair may hold j too, whose value is stored last.
      for (let k = ((j + 1) & ~1) * 8; k !== step; k += 16) v128.store(p + k, multiplyAdd(minus, v128.load(top + k), v128.load(p + k)));
      f64.store(p + j * 8, l);
    }
  }
  return 0;
}

// The rows of U beside a panel: L U = A solved in strips of four columns, in place and packed.
function solvePacked(panel: usize, width: usize, pa: usize, ld: usize, cols: usize, to: usize): void {
  for (let j: usize = 0; j < cols; j += TILE, to += width * 32) {
    for (let i: usize = 0; i < width; i++) {
      const p = pa + (i * ld + j) * 8;
      let a = v128.load(p), b = v128.load(p, 16);
      let l = panel + i * width * 8;
      for (let u = to, end = to + i * 32; u !== end; u += 32, l += 8) {
        const minus = f64x2.neg(v128.load64_splat(l));
        a = multiplyAdd(minus, v128.load(u), a);
        b = multiplyAdd(minus, v128.load(u, 16), b);
      }
      v128.store(to + i * 32, a);
      v128.store(to + i * 32, b, 16);
      v128.store(p, a);
      v128.store(p, b, 16);
    }
  }
}

function copyRows(from: usize, fromLd: usize, to: usize, toLd: usize, rows: usize, cols: usize): void {
  for (let i: usize = 0; i < rows; i++) memory.copy(to + i * toLd * 8, from + i * fromLd * 8, cols * 8);
}

/**
 * P A = L U in place, order n, right-looking, in panels of 32 columns, which are copied out and back. 0, or 1 + the column
 * of a zero pivot. `work` has room for 96 n entries.
 */
export function lu(pa: usize, n: usize, pivots: usize, work: usize): usize {
  const upper = work + PANEL * n * 8;
  const lower = upper + PANEL * n * 8;
  for (let j: usize = 0; j < n; j += PANEL) {
    const width = min(PANEL, n - j), rows = n - j, rest = rows - width;
    const block = pa + (j * n + j) * 8;
    copyRows(block, n, work, width, rows, width);
    const zeroPivot = factorPanel(work, rows, width, pivots + j * 4);
    if (zeroPivot !== 0) return j + zeroPivot;
    copyRows(work, width, block, n, rows, width);
    for (let k = j; k < j + width; k++) {
      const pivot = j + (i32.load(pivots + k * 4) as usize);
      i32.store(pivots + k * 4, pivot as i32);
      if (pivot === k) continue;
      swapRows(pa + k * n * 8, pa + pivot * n * 8, j);
      swapRows(pa + (k * n + j + width) * 8, pa + (pivot * n + j + width) * 8, rest);
    }
    if (rest === 0) break;
    const right = block + width * 8;
    solvePacked(work, width, right, n, rest, upper);
    packRows(work + width * width * 8, width, rest, width, lower, -1);
    for (let k: usize = 0; k < rest; k += WIDTH) {
      const cols = min(WIDTH, rest - k);
      for (let i: usize = 0; i < rest; i += TILE) {
        addProduct(lower + i * width * 8, upper + k * width * 8, width, right + ((width + i) * n + k) * 8, n, TILE, cols);
      }
    }
  }
  return 0;
}
