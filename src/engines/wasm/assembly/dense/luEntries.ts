// What the factorizations of lu.ts and luRanks.ts share: the record of a column (its grid, its sum of magnitudes, the number of its moves,
// and where its sums begin on a finer grid) and how an entry is obtained from its sum.
//
// Sums need no check. |l| <= 1, so what is subtracted from column j stays below the sum of |u_kj|, which the kernel keeps: when that
// sum plus the largest |a_ij| exceeds half the binade, the column moves to a coarser grid.
import { deepBound } from "./deepSums";
import { certified, certifiedQuickly, inflated } from "../exact/certificate";
import { LU_COLUMN, ROUND } from "../layout";
import { MIN_GRID, binade, grid, log2Up, powerOfTwo } from "../grid";
import { setScalars, setTerms, settle } from "../exact/settle";
import { REST, restBound } from "./strip";

@inline const MAX_GRID: i32 = 980; // the exponent of the coarsest grid: sums beyond could overflow
@inline export const COLUMN: i32 = LU_COLUMN; // the size of a record
@inline export const SIZE: usize = 8;
@inline export const MOVES: usize = 16;
// After refineGrid(): the number of products that deepSums() sums, the grid on which it does, the sum of magnitudes of those products and the
// largest entry, and the bound of its error.
@inline export const SPLIT: usize = 24;
@inline export const COARSE: usize = 32;
@inline const TOTAL: usize = 40;
@inline const BASE: usize = 48;

// Place the grid of a column so that sums of `steps` products, each of at most the largest entry, fit.
export function placeColumn(column: usize, largest: f64, steps: i32): void {
  f64.store(column, largest, SIZE);
  f64.store(column, 0, MOVES);
  const k = binade(largest) + log2Up(steps) + 2;
  f64.store(column, k > MAX_GRID ? NaN : grid(max(k, MIN_GRID)));
  i32.store(column, 0, SPLIT);
  f64.store(column, 0, TOTAL);
  f64.store(column, 0, BASE);
}

// Whether sums in a column would fit on a far finer grid if its last products had magnitudes of at most `latest`.
@inline const ROOM: i32 = 12; // bits
@inline const FINER: i32 = 12; // bits from which it is worth it
@inline function finerGrid(latest: f64): f64 { return grid(max(binade(latest) + ROOM, MIN_GRID)); }
export function needsFinerGrid(column: usize, latest: f64): bool {
  return latest > 0 && finerGrid(latest) < f64.load(column) * powerOfTwo(-FINER);
}

// Let the sums of a column continue on such a grid after the first N products, or, if it needs none, on one with room for all sums:
// deepSums() puts sums of at most F / 16 on the grid F.
export function refineGrid(column: usize, latest: f64, N: i32): void {
  const size = f64.load(column, TOTAL) + f64.load(column, SIZE), k = max(binade(size) + 2, MIN_GRID);
  const F = k + 2 > MAX_GRID ? NaN : needsFinerGrid(column, latest) ? finerGrid(latest) : grid(k + 2);
  f64.store(column, F);
  f64.store(column, F * 0.125, SIZE);
  f64.store(column, 1, MOVES);
  i32.store(column, N, SPLIT);
  f64.store(column, grid(min(k, MAX_GRID)), COARSE);
  f64.store(column, size, TOTAL);
  f64.store(column, deepBound(grid(min(k, MAX_GRID)), N), BASE);
}

// Add |u| to the sum of magnitudes for one more product in each row. False if the sums may then leave the grid's binade. (A NaN grid
// counts as fitting.)
@inline export function fits(column: usize, u: f64): bool {
  const size = f64.load(column, SIZE) + abs(u);
  f64.store(column, size, SIZE);
  return !(size > f64.load(column) * 0.25);
}

// Choose a coarser grid for a column. The caller moves its sums there.
export function coarserGrid(column: usize): f64 {
  const k = binade(f64.load(column, SIZE)) + 12, G = k > MAX_GRID ? NaN : grid(k);
  f64.store(column, G);
  f64.store(column, f64.load(column, MOVES) + 1, MOVES);
  return G;
}

// The error bound of a sum in a column after N products.
export function boundAfter(column: usize, N: i32): f64 {
  return inflated(restBound(f64.load(column), <f64>(N - i32.load(column, SPLIT) + 2) + f64.load(column, MOVES)) + f64.load(column, BASE));
}

// The entry whose sum is at p, if the sum decides it quickly, which is the usual case; else NaN.
@inline export function decidedQuickly(p: usize, column: usize, bound: f64, single: bool): f64 {
  return single ? NaN : certifiedQuickly(f64.load(p) - f64.load(column), f64.load(p, REST), bound);
}
// The same with more care: `a` is the entry of A, and `hasProducts` tells whether any product may differ from zero.
export function decided(p: usize, column: usize, bound: f64, a: f64, hasProducts: bool, single: bool): f64 {
  const v = certified(f64.load(p) - f64.load(column), f64.load(p, REST), bound, single);
  return v == v || hasProducts ? v : a == 0 ? 0 : a;
}
// The entry from scratch: a minus the products of N entries of a row of L, without gaps, and of a packed column of U.
export function exactEntry(a: f64, row: usize, packed: usize, N: i32, single: bool): f64 {
  setTerms(row, 8, packed, 64, N);
  setScalars(-1, 1, a, 0);
  return settle<f64>(ROUND, 1, single);
}
