// Tiles of C := A B whose sums cancel, after Ozaki, Ogita, Oishi and Rump (Error-free transformations of matrix multiplication,
// 2012): the numbers of A and B are cut into slices of so few bits that ordinary arithmetic multiplies slices and sums the products
// exactly. 2 times 3 slices take 6 operations per product where the ladder takes 17, in the loop of an ordinary matrix product. Called
// by gemm.ts.
//
// Slicing needs numbers of similar magnitude. Row i of A is scaled by 2^-r_i, column j of B by 2^-s_j, and column k of A by 2^-c_k,
// which row k of B compensates; all are powers of two. Then |a| < 1 and |b| < 2^-depth_k, where the largest products have depth 0.
// All k are sorted by depth and taken in blocks. For a block of n with depths from D up:
//   a is a multiple of 2^-La, b of 2^-(D + Lb). m slices of w bits with m w >= L + 1 represent a number x exactly: slice i (from 0) is
//   what x + sigma keeps, sigma = 1.5 * 2^(53 - (i + 1) w). It is at most 2^(w-1) steps of 2^(1 - (i + 1) w) and leaves at most half
//   a step.
//   A sum of n products of slices is at most n 2^(wa - 1) 2^(wb - 1) times the product of their steps: exact if wa + wb + log2 n <= 55.
//   The first slices of a number add up to that number rounded to a step, which is at most its bound. So in the order of multiply()
//   the part summed so far is at most |a's first slices| |b| + |slice i| |b's first slices| <= (1 + 2^-wa) 2^-depth_k for each k
//   (and w >= 2).
// These sums are added on four grids as in exact/ladder.ts. Let there be T of them. The first grid has room for twice the sum of all
// 2^-depth_k. What a sum loses on a grid is at most 2^(k-53), and so are the sums that begin below that grid: T of them stay on the
// next grid, k - 52 + log2 T.
//
// Nothing below 2^-FLOOR is sliced; what lies there counts as lost.
import { binade, grid, log2Up, powerOfTwo } from "../grid";
import { enclose } from "../exact/ladder";
import { frame } from "../frame";
import { SCRATCH_OUT, SCRATCH_X, SCRATCH_Y } from "../layout";
import { add, mul, one, splat, sub } from "../simd";
import { tile } from "../solve/tile";

@inline const FLOOR: i32 = 176;
@inline const MAX_SLICES: i32 = 4; // of a number
@inline const MAX_BLOCK: i32 = 512; // terms times slices in a block, each 128 binary64 numbers: 512 KiB
@inline const MAX_TERMS: i32 = 4096; // terms of a sum
@inline const MAX_SCALE: i32 = 450; // the largest |exponent| of a row or column that is scaled
@inline const NO_SIZE: i32 = -100000; // the binade of zero

// Lists in scratch memory. For each k the binades of the largest entry and of the last bit in column k of A (0, 1) and in row k of B
// (2, 3); then all k sorted by depth (4).
@inline function listAt(i: i32): usize { return frame + SCRATCH_OUT + <usize>i * MAX_TERMS * 4; }
@inline function sizeA(k: i32): i32 { return i32.load(listAt(0) + (<usize>k << 2)); }
@inline function sizeB(k: i32): i32 { return i32.load(listAt(2) + (<usize>k << 2)); }
@inline function bitsA(k: i32): i32 { return sizeA(k) - i32.load(listAt(1) + (<usize>k << 2)); }
@inline function bitsB(k: i32): i32 { return sizeB(k) - i32.load(listAt(3) + (<usize>k << 2)); }
@inline function sorted(t: i32): i32 { return i32.load(listAt(4) + (<usize>t << 2)); }
@inline function ends(): usize { return listAt(5); } // the end of each depth in the sorted list, 4 FLOOR bytes
@inline function products(): usize { return listAt(5) + 1024; } // 16 sums
@inline function levels(): usize { return listAt(5) + 2048; } // for each pair of slices, its first grid and the number of grids
@inline function blocks(): usize { return listAt(5) + 4096; }
@inline const BLOCK: usize = 20; // bytes of a block record: length, slices of A and of B, their widths
@inline const BLOCKS: i32 = 1024;

// The grids of four rows and four columns of a tile, 16 sums each.
@inline const GRIDS: usize = 4;
@inline const SUMS: usize = GRIDS * 128;
@inline function sums(group: i32, strip: i32): usize { return frame + SCRATCH_Y + <usize>(strip * 32 + group) * SUMS; }

// The binade of the largest products, the exponent of the first grid and the distance between grids, the bound of what is lost; the
// number of k in the sorted list, and of blocks.
let top: i32 = 0, first: i32 = 0, step: i32 = 0, lost: f64 = 0;
let used: i32 = 0, blockCount: i32 = 0;
@inline function depthOf(k: i32): i32 { return top - sizeA(k) - sizeB(k); }

// For each k the binades of the largest entry and of the last bit among `vectors` vectors (rows of A or columns of B), relative to
// their exponents. False if an exponent is out of range.
function survey<T>(p: usize, stride: usize, step: usize, vectors: i32, exponents: usize, n: i32, large: usize): bool {
  const small = large + MAX_TERMS * 4;
  for (let k: usize = 0; k < <usize>n << 2; k += 4) { i32.store(large + k, NO_SIZE); i32.store(small + k, -NO_SIZE); }
  const along = step == sizeof<T>(), outer = along ? vectors : n, inner = along ? n : vectors;
  const outerStep = along ? stride : step, innerStep = along ? step : stride;
  for (let i = 0; i < outer; ++i, p += outerStep) {
    let q = p;
    for (let j = 0; j < inner; ++j, q += innerStep) {
      const x = reinterpret<i64>(one<T>(q));
      if (x << 1 == 0) continue;
      const r = i32.load(exponents + (<usize>(along ? i : j) << 2)), at = <usize>(along ? j : i) << 2;
      if (abs(r) > MAX_SCALE) return false;
      const e = <i32>(x >>> 52) & 0x7ff, m = x & 0xfffffffffffff;
      const last = max(e, 1) - 1075 + <i32>ctz(e == 0 ? m : m | 0x10000000000000) - r;
      i32.store(large + at, max(i32.load(large + at), e - 1022 - r));
      i32.store(small + at, min(i32.load(small + at), last));
    }
  }
  return true;
}

// Sort all k whose products are above 2^-FLOOR of the largest, by depth.
function sortByDepth(n: i32): bool {
  top = NO_SIZE;
  for (let k = 0; k < n; ++k) top = max(top, sizeA(k) + sizeB(k));
  used = 0; lost = 0;
  if (top < NO_SIZE >> 1) { top = 0; first = 1; return true; } // all zero
  if (top < -600) return false;
  memory.fill(ends(), 0, 4 * FLOOR);
  let size: f64 = 0;
  for (let k = 0; k < n; ++k) {
    const depth = depthOf(k);
    if (depth < FLOOR) {
      const at = ends() + (<usize>depth << 2);
      i32.store(at, i32.load(at) + 1);
      size += powerOfTwo(-depth);
    } else if (depth < -NO_SIZE >> 1) lost += powerOfTwo(-FLOOR);
  }
  first = binade(2 * size) + 1;
  for (let depth = 0; depth < FLOOR; ++depth) {
    const at = ends() + (<usize>depth << 2), count = i32.load(at);
    i32.store(at, used);
    used += count;
  }
  for (let k = 0; k < n; ++k) {
    const depth = depthOf(k);
    if (depth >= FLOOR) continue;
    const at = ends() + (<usize>depth << 2), t = i32.load(at);
    i32.store(listAt(4) + (<usize>t << 2), k);
    i32.store(at, t + 1);
  }
  return true;
}

@inline function width(bits: i32, slices: i32): i32 { return max((bits + slices) / slices, 2); }

// Choose the length of the next block and how to slice it, so that a product takes the fewest operations. A block costs as much as
// BLOCK_COST additional products.
@inline const BLOCK_COST: f64 = 15;
let length: i32 = 0, slicesA: i32 = 0, slicesB: i32 = 0, widthA: i32 = 0, widthB: i32 = 0;
function chooseBlock(from: i32): bool {
  const depth = depthOf(sorted(from)), maxBits = FLOOR - depth;
  let best: f64 = Infinity;
  for (let ma = 1; ma <= MAX_SLICES; ++ma) for (let mb = 1; mb <= MAX_SLICES; ++mb) {
    let La = 0, Lb = 0, wa = 0, wb = 0, t = from;
    for (; t < used; ++t) {
      const k = sorted(t), n = t - from + 1;
      La = max(La, min(bitsA(k), maxBits));
      Lb = max(Lb, min(depthOf(k) - depth + bitsB(k), maxBits));
      const a = width(La, ma), b = width(Lb, mb);
      if (a + b + log2Up(n) > 55 || max(a, b) > 50 || n * (ma + mb) > MAX_BLOCK) break;
      wa = a; wb = b;
    }
    const n = t - from, cost = <f64>(ma * mb) * (<f64>n + BLOCK_COST) / <f64>n;
    if (n == 0 || cost >= best) continue;
    best = cost;
    length = n; slicesA = ma; slicesB = mb; widthA = wa; widthB = wb;
  }
  return best < Infinity;
}

// Choose all blocks. False if that is no faster than the ladder, where a product costs as much as LADDER_COST products of slices.
@inline const LADDER_COST: f64 = 20;
function chooseBlocks(): bool {
  let work: f64 = 0, terms = 0;
  blockCount = 0;
  for (let t = 0; t < used; t += length) {
    if (blockCount == BLOCKS || !chooseBlock(t)) return false;
    const at = blocks() + <usize>blockCount * BLOCK;
    i32.store(at, length); i32.store(at, slicesA, 4); i32.store(at, slicesB, 8); i32.store(at, widthA, 12); i32.store(at, widthB, 16);
    ++blockCount;
    terms += slicesA * slicesB;
    work += <f64>(slicesA * slicesB) * (<f64>length + BLOCK_COST);
  }
  step = 52 - log2Up(terms);
  return work < LADDER_COST * <f64>(used + 1);
}

@inline function scaleOf(exponents: usize, l: i32, vectors: i32): f64 {
  const r = l < vectors ? i32.load(exponents + (<usize>l << 2)) : 0;
  return abs(r) > MAX_SCALE ? 1 : powerOfTwo(-r); // beyond MAX_SCALE all entries are zero
}

// Slice `length` entries of each vector, in groups of four vectors: slice after slice, and in each slice four numbers for every k.
// Column k of A is scaled by 2^-c_k, row k of B by 2^(c_k - top).
function sliceVectors<T>(p: usize, stride: usize, step: usize, vectors: i32, exponents: usize, from: i32, isA: bool, m: i32, w: i32, depth: i32, to: usize): void {
  const slice = <usize>length << 5, coarsest = splat(grid(53 - w - depth)), finer = splat(powerOfTwo(-w));
  for (let l = 0; l < vectors; l += 2) {
    const scales = f64x2.replace_lane(splat(scaleOf(exponents, l, vectors)), 1, scaleOf(exponents, l + 1, vectors));
    const l0 = p + <usize>l * stride, next = l + 1 < vectors ? stride : 0;
    let q = to + <usize>(l >> 2) * slice * m + <usize>(l & 2) * 8;
    for (let t = 0; t < length; ++t, q += 32) {
      const k = sorted(from + t), c = sizeA(k), at = l0 + <usize>k * step;
      let x = mul(mul(f64x2.replace_lane(splat(one<T>(at)), 1, one<T>(at + next)), scales), splat(powerOfTwo(isA ? -c : c - top))), sigma = coarsest;
      for (let i = 0, z = q; i < m; ++i, z += slice) {
        const s = sub(add(x, sigma), sigma);
        v128.store(z, s);
        x = sub(x, s);
        sigma = mul(sigma, finer);
      }
    }
  }
}

// Where to add the sum of products of slices i and j: the first grid and the number of grids, 0 if all of it lies below the last one.
function chooseGrids(i: i32, j: i32, depth: i32, at: usize): void {
  const size = log2Up(length) - i * widthA - j * widthB - depth, bit = 2 - (i + 1) * widthA - (j + 1) * widthB - depth;
  let start = 0;
  while (start < <i32>GRIDS && size <= first - start * step - 53) ++start;
  let end = start;
  while (end < <i32>GRIDS && (end == start || bit < first - (end - 1) * step - 52)) ++end;
  if (bit < first - (<i32>GRIDS - 1) * step - 52) lost += powerOfTwo(first - (<i32>GRIDS - 1) * step - 53);
  i32.store(at, start);
  i32.store(at, end - start, 4);
}

// Subtract 16 sums from `count` grids.
@inline function deposit(p: usize, to: usize, count: i32): void {
  for (const end = p + 128; p != end; p += 16, to += 16) {
    let x = v128.load(p), s = v128.load(to), t = sub(s, x);
    v128.store(to, t);
    if (count == 1) continue;
    x = sub(x, sub(s, t)); s = v128.load(to, 128); t = sub(s, x);
    v128.store(to, t, 128);
    if (count == 2) continue;
    x = sub(x, sub(s, t)); s = v128.load(to, 256);
    v128.store(to, sub(s, x), 256);
  }
}

// The products of a block: groups of four rows by strips of four columns.
function multiply(groups: i32, strips: i32): void {
  const a0 = frame + SCRATCH_X, sliceSize = <usize>length << 5, b0 = a0 + <usize>(groups * slicesA) * sliceSize, c = products();
  for (let strip = 0; strip < strips; ++strip) {
    for (let group = 0; group < groups; ++group) {
      let a = a0 + <usize>(group * slicesA) * sliceSize, level = levels();
      const to = sums(group, strip);
      for (let i = 0; i < slicesA; ++i, a += sliceSize) {
        let b = b0 + <usize>(strip * slicesB) * sliceSize;
        for (let j = 0; j < slicesB; ++j, b += sliceSize, level += 8) {
          const count = i32.load(level, 4);
          if (count == 0) continue;
          for (let z = c; z != c + 128; z += 16) v128.store(z, i64x2.splat(0));
          tile<f64>(a, b, 32, c, 32, length);
          deposit(c, to + (<usize>i32.load(level) << 7), count);
        }
      }
    }
  }
}

// Compute the sums of all entries of a tile, given the exponents of its rows and columns. False if slicing is impossible or too slow.
export function multiplySliced<T>(A: usize, aRow: usize, aCol: usize, B: usize, bRow: usize, bCol: usize, rows: i32, cols: i32, n: i32, rowExponents: usize, colExponents: usize): bool {
  if (n > MAX_TERMS || !survey<T>(A, aRow, aCol, rows, rowExponents, n, listAt(0)) || !survey<T>(B, bCol, bRow, cols, colExponents, n, listAt(2))) return false;
  if (!sortByDepth(n) || !chooseBlocks()) return false;
  const groups = (rows + 3) >> 2, strips = (cols + 3) >> 2;
  for (let strip = 0; strip < strips; ++strip) for (let group = 0; group < groups; ++group) {
    const at = sums(group, strip);
    for (let i: usize = 0; i < SUMS; i += 16) v128.store(at + i, splat(grid(first - <i32>(i >> 7) * step)));
  }
  let from = 0;
  for (let i = 0; i < blockCount; ++i, from += length) {
    const at = blocks() + <usize>i * BLOCK;
    length = i32.load(at); slicesA = i32.load(at, 4); slicesB = i32.load(at, 8); widthA = i32.load(at, 12); widthB = i32.load(at, 16);
    const depth = depthOf(sorted(from));
    for (let t = from; t < from + length; ++t) {
      const k = sorted(t);
      if (bitsA(k) >= slicesA * widthA) lost += powerOfTwo(1 - slicesA * widthA - depth);
      if (depthOf(k) - depth + bitsB(k) >= slicesB * widthB) lost += powerOfTwo(1 - slicesB * widthB - depth);
    }
    for (let a = 0; a < slicesA; ++a) for (let b = 0; b < slicesB; ++b) chooseGrids(a, b, depth, levels() + <usize>(a * slicesB + b) * 8);
    sliceVectors<T>(A, aRow, aCol, rows, rowExponents, from, true, slicesA, widthA, 0, frame + SCRATCH_X);
    sliceVectors<T>(B, bCol, bRow, cols, colExponents, from, false, slicesB, widthB, depth, frame + SCRATCH_X + (<usize>(groups * slicesA * length) << 5));
    multiply(groups, strips);
  }
  return true;
}

// The enclosure of the sum of one entry. False if it cannot be scaled back.
export function encloseSliced(record: usize, i: i32, j: i32, row: i32, col: i32): bool {
  const p = sums(i >> 2, j >> 2) + <usize>(((i & 3) << 5) + ((j & 3) << 3));
  const scale = row + col + top;
  if (abs(scale) > 600) return false;
  const k1 = first + scale, k2 = k1 - step, k3 = k2 - step, unit = powerOfTwo(scale), last = grid(first - 3 * step);
  return enclose(record, unitsOf(p, first), unitsOf(p + 128, first - step), unitsOf(p + 256, first - 2 * step), k1, k2, k3, (f64.load(p + 384) - last) * unit, 0, lost * unit);
}
@inline function unitsOf(p: usize, k: i32): i64 { return i64.load(p) - reinterpret<i64>(grid(k)); }
