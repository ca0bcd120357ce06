// P A = L U over ranks, with the bits of lu.ts: the part of one rank. src/ranks/dense/lu.ts calls the exports through luRanks.ts of this
// engine, and exchanges data between them.
//
// Columns are in groups of eight, group g on rank g mod p, as rows of eight numbers in the current order of rows: finished rows of U, below
// them the rows of A. Rows of L stay by their original indices, eight in turn per rank, until they become pivot rows. So a rank that computes
// a sum has the whole row of L, or gets it with the block, and the whole column of U: it can settle any entry by itself.
//
// A block of columns ("panel") is copied to every rank, with the records of its columns. Each rank computes the sums of its own rows. Then
// every rank gets the sums of all rows and factors the panel by itself, all of them alike: one exchange for the whole panel. That ends at a
// column with an entry that its sum does not decide, because only the owner of a row has what settles it. From there on, each rank proposes
// for every column its own best pivot, together with the row of U that would result, and one exchange for each column decides. The sums of
// magnitudes depend on U only, so all ranks move a column to the same grid at the same step.
import { LU_BLOCK, LU_MESSAGE, LU_PROPOSED, LU_SHARED_ROWS } from "../layout";
import { COLUMN, boundAfter, coarserGrid, decided, decidedQuickly, exactEntry, fits, placeColumn } from "./luEntries";
import { DEPTH, swapMemory } from "./lu";
import { isFused } from "../simd";
import { REST, SUMS, Unchecked, moveSum, startSum, strip, subtractProduct } from "./strip";

@inline const GROUPS: i32 = LU_BLOCK / 8;
@inline const ROWS: i32 = 32; // rows whose sums are computed at a time: with DEPTH entries of L each they stay in the L2 cache
@inline const CHUNK: usize = <usize>DEPTH << 3;

let m: i32 = 0, n: i32 = 0, steps: i32 = 0, rank: i32 = 0, ranks: i32 = 0, single: bool = false;
// Rows of L: the space of a row is its slot. Its entries are in chunks of DEPTH, which are reused when a row is done, so that all rows take
// n^2 / 4 numbers at a time instead of n^2. Memory for the worst case is reserved and mostly not touched.
let slots: i32 = 0, chunksPerRow: i32 = 0, chunkTable: usize = 0, chunks: usize = 0, freeChunk: usize = 0;
let rowAt: usize = 0, pivots: usize = 0; // by position: the original row, and the pivots
let positions: usize = 0, nonzeroL: usize = 0; // by original row: its position, and whether its row of L has a nonzero entry
// The panel: where its groups are, the sums of this rank's rows, and their entries of A.
let first: i32 = 0, groups: i32 = 0, panels: usize = 0, sums: usize = 0, values: usize = 0;
// The rows at work in the panel, in any order: their original indices, their sums, and their entries of L in the panel. Rows that become
// pivot rows leave. They are this rank's own or, while it factors the panel by itself, all rows.
let active: usize = 0, activeCount: i32 = 0, activeIndex: usize = 0, activeSums: usize = 0, activeL: usize = 0, hasAll: bool = false;
// The parts of all ranks: PART_ROWS, then for each row its sums and whether its row of L has a nonzero entry. Parts have room for
// `partRows` rows. And the entries of L of other ranks' rows.
let parts: usize = 0, ownPart: usize = 0, partRows: i32 = 0, otherL: usize = 0;
@inline const PART_ROWS: usize = 16; // after the first entry that overflowed on this rank, and whether its kernels have fused multiply-add
@inline const PART_ROW: usize = GROUPS * SUMS + 8;
let groupStore: usize = 0, scratch: usize = 0, received: usize = 0, groupBytes: usize = 0;
let message: usize = 0, messages: usize = 0, trial: usize = 0, pivotRow: usize = 0, rowCopy: usize = 0;
// The rows of L of a block of pivot rows. There is room for two blocks, which take turns: while rows of U are computed with one, the rows of
// the next are collected. The record of a block has the length of its rows, then for each row its place among them and whether it has a
// nonzero entry, then the rows, ordered by owner.
let blocks: usize = 0, blockBytes: usize = 0, counts: usize = 0, blockSums: usize = 0;
@inline const PLACES: usize = 64;
@inline const NONZERO: usize = PLACES + (LU_BLOCK << 2);
@inline const BLOCK_ROWS: usize = NONZERO + LU_BLOCK + 32;
// The first entry that overflowed, in the order of the unblocked algorithm: column * m + row, or infinity.
let failed: f64 = Infinity;

let next: usize = 0;
function reserve(bytes: usize): usize {
  const at = next;
  next += (bytes + 63) & ~63;
  return at;
}

// Lay out the memory of a factorization from this address on; returns its end. Memory is expected to be zero.
export function luRanksPlan(base: usize, rows: i32, cols: i32, isSingle: i32, theRank: i32, size: i32): usize {
  m = rows; n = cols; steps = min(m, n); rank = theRank; ranks = size; single = isSingle != 0;
  slots = (((m + 7) >> 3) + ranks - 1) / ranks << 3;
  chunksPerRow = (steps + DEPTH - 1) / DEPTH;
  groupBytes = (<usize>m << 6) + 8 * COLUMN;
  next = base;
  message = reserve(LU_MESSAGE);
  messages = reserve(<usize>ranks * LU_MESSAGE);
  pivots = reserve(<usize>steps << 2);
  counts = reserve(<usize>ranks << 2);
  rowAt = reserve(<usize>m << 2);
  positions = reserve(<usize>m << 2);
  nonzeroL = reserve(<usize>m);
  active = reserve(<usize>m << 2);
  activeIndex = reserve(<usize>m << 2);
  activeSums = reserve(<usize>m * sizeof<usize>());
  activeL = reserve(<usize>m * sizeof<usize>());
  panels = reserve(GROUPS * sizeof<usize>());
  trial = reserve(GROUPS * SUMS);
  pivotRow = reserve(64);
  blockSums = reserve(LU_BLOCK * SUMS);
  rowCopy = reserve(<usize>steps << 3);
  chunkTable = reserve(<usize>slots * chunksPerRow * sizeof<usize>());
  const all = (n + 7) >> 3;
  groupStore = reserve(<usize>((all + ranks - 1 - rank) / ranks) * groupBytes);
  // From here on nothing is needed after the factorization: the host puts the result here.
  scratch = next;
  sums = reserve(<usize>slots * (GROUPS * SUMS));
  values = reserve(<usize>slots * (LU_BLOCK << 3));
  const most = ranks > 1 ? min(slots, LU_SHARED_ROWS) : 0; // rows in a part
  ownPart = reserve(PART_ROWS + <usize>most * PART_ROW);
  parts = reserve(<usize>ranks * (PART_ROWS + <usize>most * PART_ROW));
  otherL = reserve(<usize>ranks * <usize>most * (LU_BLOCK << 3));
  received = reserve(GROUPS * groupBytes);
  blockBytes = BLOCK_ROWS + <usize>steps * (LU_BLOCK << 3);
  blocks = reserve(2 * blockBytes);
  chunks = reserve(<usize>slots * chunksPerRow * CHUNK);
  freeChunk = 0; failed = Infinity;
  return next;
}

// Before the factorization: rows are where they were.
export function luRanksBegin(): void {
  for (let i = 0; i < m; ++i) {
    i32.store(rowAt + (<usize>i << 2), i);
    i32.store(positions + (<usize>i << 2), i);
  }
}
function activate(row: i32, itsSums: usize, itsL: usize): void {
  const at = <usize>activeCount;
  i32.store(active + (at << 2), row);
  store<usize>(activeSums + at * sizeof<usize>(), itsSums);
  store<usize>(activeL + at * sizeof<usize>(), itsL);
  i32.store(activeIndex + (<usize>row << 2), activeCount++);
}
function deactivate(row: i32): void {
  const at = i32.load(activeIndex + (<usize>row << 2)), last = --activeCount, other = activeRow(last);
  i32.store(active + (<usize>at << 2), other);
  store<usize>(activeSums + <usize>at * sizeof<usize>(), sumsAt(last, 0));
  store<usize>(activeL + <usize>at * sizeof<usize>(), lAt(last, 0));
  i32.store(activeIndex + (<usize>other << 2), at);
}
@inline function activeRow(a: i32): i32 { return i32.load(active + (<usize>a << 2)); }
// The sums of an active row in a group of the panel, and its entry of L in this lane.
@inline function sumsAt(a: i32, group: i32): usize { return load<usize>(activeSums + <usize>a * sizeof<usize>()) + group * SUMS; }
@inline function lAt(a: i32, lane: i32): usize { return load<usize>(activeL + <usize>a * sizeof<usize>()) + (lane << 3); }

// Where the host finds the buffers of its exchanges.
export function luRanksMessage(): usize { return message; }
export function luRanksMessages(): usize { return messages; }
export function luRanksPivots(): usize { return pivots; }
export function luRanksCounts(): usize { return counts; }
export function luRanksRows(from: i32): usize { return blockOf(from) + BLOCK_ROWS; }
export function luRanksScratch(): usize { return scratch; }
// A group of columns with the records of its columns: this rank's own, or the space for one of the current panel from another rank.
export function luRanksGroup(group: i32): usize { return group % ranks == rank ? groupStore + <usize>(group / ranks) * groupBytes : received + <usize>(group & (GROUPS - 1)) * groupBytes; }
export function luRanksFailed(): f64 { return failed; }

@inline function ownerOf(row: i32): i32 { return (row >> 3) % ranks; }
@inline function slotOf(row: i32): i32 { return ((row >> 3) / ranks << 3) | (row & 7); }
@inline function rowOf(position: i32): i32 { return i32.load(rowAt + (<usize>position << 2)); }
@inline function positionOf(row: i32): i32 { return i32.load(positions + (<usize>row << 2)); }
@inline function chunkOf(slot: i32, chunk: i32): usize { return load<usize>(chunkTable + (<usize>(slot * chunksPerRow + chunk)) * sizeof<usize>()); }
@inline function sumsOf(slot: i32): usize { return sums + <usize>slot * (GROUPS * SUMS); }
@inline function valueAt(slot: i32, lane: i32): usize { return values + (<usize>(slot * LU_BLOCK + lane) << 3); }
// The record of the block that begins at this position, the length of its rows, and row r of it.
@inline function blockOf(from: i32): usize { return blocks + <usize>((from / LU_BLOCK) & 1) * blockBytes; }
@inline function rowOfBlock(block: usize, r: i32): usize { return block + BLOCK_ROWS + <usize>i32.load(block + PLACES + (r << 2)) * (<usize>i32.load(block) << 3); }
@inline function panelAt(group: i32): usize { return load<usize>(panels + group * sizeof<usize>()); }
@inline function columnAt(lane: i32): usize { return panelAt(lane >> 3) + (<usize>m << 6) + (lane & 7) * COLUMN; }
@inline function laneAt(lane: i32): usize { return (lane & 7) << 3; }

function addChunk(slot: i32, chunk: i32): void {
  let at = freeChunk;
  if (at != 0) freeChunk = load<usize>(at);
  else { at = chunks; chunks += CHUNK; }
  setChunk(slot, chunk, at);
}
@inline function setChunk(slot: i32, chunk: i32, at: usize): void { store<usize>(chunkTable + (<usize>(slot * chunksPerRow + chunk)) * sizeof<usize>(), at); }
function freeChunks(slot: i32): void {
  for (let chunk = 0; chunk < chunksPerRow; ++chunk) {
    const at = chunkOf(slot, chunk);
    if (at == 0) return;
    store<usize>(at, freeChunk);
    freeChunk = at;
    setChunk(slot, chunk, 0);
  }
}

@inline function report(row: i32, column: i32): void { failed = min(failed, <f64>column * <f64>m + <f64>row); }

// Place the grids of one of this rank's groups. Returns -1, or the place 8 * row + lane of its first entry that is not finite.
export function luRanksPlace(group: i32): i32 {
  const base = luRanksGroup(group);
  for (let lane = 0; lane < 8; ++lane) f64.store(pivotRow + (lane << 3), 0);
  let special = false;
  for (let i = 0; i < m; ++i) {
    for (let lane = 0; lane < 8; lane += 2) {
      const at = pivotRow + (lane << 3), v = f64x2.abs(v128.load(base + (<usize>i << 6) + (lane << 3)));
      v128.store(at, f64x2.max(v128.load(at), v)); // keeps NaN
    }
  }
  for (let lane = 0; lane < 8; ++lane) {
    const largest = f64.load(pivotRow + (lane << 3));
    if (!(largest - largest == 0)) special = true;
    placeColumn(base + (<usize>m << 6) + lane * COLUMN, largest, steps);
  }
  if (special) for (let i = 0; i < m << 3; ++i) {
    const v = f64.load(base + (<usize>i << 3));
    if (!(v - v == 0)) return i;
  }
  return -1;
}

// The sums of this rank's rows in the panel that starts at column `from`, over all products with the finished rows of U.
export function luRanksSums(from: i32): void {
  first = from;
  groups = min(GROUPS, ((n + 7) >> 3) - (first >> 3));
  for (let g = 0; g < groups; ++g) store<usize>(panels + g * sizeof<usize>(), luRanksGroup((first >> 3) + g));
  if (first % DEPTH == 0) for (let p = first; p < m; ++p) if (ownerOf(rowOf(p)) == rank) addChunk(slotOf(rowOf(p)), first / DEPTH);
  activateOwn(first);
  for (let top = 0; top < activeCount; top += ROWS) {
    const bottom = min(top + ROWS, activeCount);
    for (let a = top; a < bottom; ++a) startRow(a);
    for (let k = 0; k < first; k += DEPTH) {
      const depth = min(DEPTH, first - k);
      for (let g = 0; g < groups; ++g) {
        const pb = panelAt(g) + (<usize>k << 6);
        for (let a = top; a < bottom; ++a) strip<f64, Unchecked>(chunkOf(slotOf(activeRow(a)), k / DEPTH), 8, pb, 64, depth, sumsAt(a, g));
      }
    }
  }
}
// Make this rank's rows at positions from `from` on the active ones.
function activateOwn(from: i32): void {
  hasAll = false;
  activeCount = 0;
  searched = -1;
  for (let p = from; p < m; ++p) if (ownerOf(rowOf(p)) == rank) activateOwnRow(rowOf(p));
}
function activateOwnRow(row: i32): void {
  const slot = slotOf(row);
  activate(row, sumsOf(slot), chunkOf(slot, first / DEPTH) + (<usize>(first & (DEPTH - 1)) << 3));
}
// Start the sums of a row at its entries of A. These are kept: rows of U will take their place in the panel.
function startRow(a: i32): void {
  const row = activeRow(a), from = <usize>positionOf(row) << 6;
  for (let lane = 0; lane < 8 * groups; ++lane) {
    const v = f64.load(panelAt(lane >> 3) + from + laneAt(lane));
    f64.store(valueAt(slotOf(row), lane), v);
    startSum(sumsAt(a, lane >> 3) + laneAt(lane), v, f64.load(columnAt(lane)));
  }
}

// Whether every rank may factor this panel by itself.
export function luRanksCanShare(): i32 { return ranks > 1 && m - first <= LU_SHARED_ROWS ? 1 : 0; }
export function luRanksOwnPart(): usize { return ownPart; }
export function luRanksParts(): usize { return parts; }
@inline function partBytes(): usize { return PART_ROWS + <usize>partRows * PART_ROW; }

// Put the sums of this rank's rows into its part, by position. Returns the bytes of a part: every rank has as many.
export function luRanksShare(): i32 {
  partRows = 0;
  countRows();
  for (let r = 0; r < ranks; ++r) partRows = max(partRows, i32.load(counts + (<usize>r << 2)));
  f64.store(ownPart, failed);
  f64.store(ownPart, isFused() ? 1 : 0, 8);
  let to = ownPart + PART_ROWS;
  for (let a = 0; a < activeCount; ++a, to += PART_ROW) {
    memory.copy(to, sumsAt(a, 0), GROUPS * SUMS);
    store<u64>(to, load<u8>(nonzeroL + activeRow(a)), GROUPS * SUMS);
  }
  return <i32>partBytes();
}
// How many rows of the panel each rank has.
function countRows(): void {
  memory.fill(counts, 0, <usize>ranks << 2);
  for (let p = first; p < m; ++p) {
    const at = counts + (<usize>ownerOf(rowOf(p)) << 2);
    i32.store(at, i32.load(at) + 1);
  }
}

// With the parts of all ranks, factor the panel up to column `end`. Returns the column at which that ends: `end`, or one that the ranks have
// to decide together, because an entry is undecided, or the pivot is zero. It is the same on all ranks: where their kernels differ, so do
// the errors of their sums, and it is the first.
export function luRanksPanel(end: i32): i32 {
  for (let r = 0; r < ranks; ++r) {
    const part = parts + <usize>r * partBytes();
    if (f64.load(part) < <f64>end * <f64>m || f64.load(part, 8) != f64.load(parts, 8)) return first;
  }
  activateAll();
  let j = first;
  for (; j < end && propose(j) && f64.load(message) != 0; ++j) pivotStep(j, message);
  activateOwn(j);
  return j;
}
function activateAll(): void {
  memory.fill(counts, 0, <usize>ranks << 2);
  hasAll = true;
  activeCount = 0;
  searched = -1;
  for (let p = first; p < m; ++p) {
    const row = rowOf(p), owner = ownerOf(row), count = counts + (<usize>owner << 2), at = i32.load(count);
    i32.store(count, at + 1);
    if (owner == rank) { activateOwnRow(row); continue; }
    const record = parts + <usize>owner * partBytes() + PART_ROWS + <usize>at * PART_ROW;
    store<u8>(nonzeroL + row, <u8>load<u64>(record, GROUPS * SUMS));
    activate(row, record, otherL + <usize>(owner * partRows + at) * (LU_BLOCK << 3));
  }
}

// The entry of an active row in this lane of the panel, from its sum at p over the first N products. With all rows, NaN if it is undecided.
@inline function entry(a: i32, lane: i32, p: usize, N: i32, bound: f64): f64 {
  const v = decidedQuickly(p, columnAt(lane), bound, single);
  return v == v ? v : settleEntry(a, lane, p, N, bound);
}
function settleEntry(a: i32, lane: i32, p: usize, N: i32, bound: f64): f64 {
  const row = activeRow(a), slot = slotOf(row), hasProducts = N != 0 && load<u8>(nonzeroL + row) != 0;
  // Without products the sum is the entry of A, exactly. Only its owner has that, but a zero is a zero.
  const value = hasAll ? (f64.load(p) == f64.load(columnAt(lane)) && f64.load(p, REST) == 0 ? 0 : NaN) : f64.load(valueAt(slot, lane));
  const v = decided(p, columnAt(lane), bound, value, hasProducts, single);
  if (v == v || hasAll) return v;
  copyRow(slot, N, rowCopy);
  return exactEntry(value, rowCopy, panelAt(lane >> 3) + laneAt(lane), N, single);
}
// The first N entries of a row of L without gaps.
function copyRow(slot: i32, N: i32, to: usize): void {
  for (let k = 0; k < N; k += DEPTH) memory.copy(to + (<usize>k << 3), chunkOf(slot, k / DEPTH), <usize>min(DEPTH, N - k) << 3);
}

// The search for the pivot of column `searched`: the best so far among the active rows, its position and its value, and whether, with all
// rows, an entry is undecided.
let searched: i32 = -1, best: i32 = -1, position: i32 = -1, largest: f64 = -1, pivot: f64 = 0, isUndecided: bool = false;
function startSearch(j: i32): void { searched = j; best = -1; position = -1; largest = -1; pivot = 0; isUndecided = false; }
@inline function search(a: i32, lane: i32, j: i32, bound: f64): void {
  const v = entry(a, lane, sumsAt(a, lane >> 3) + laneAt(lane), j, bound), size = abs(v);
  f64.store(lAt(a, lane), v);
  if (!(size < largest)) consider(a, j, v, size);
}
function consider(a: i32, j: i32, v: f64, size: f64): void {
  const at = positionOf(activeRow(a));
  if (!(v - v == 0)) {
    if (hasAll) isUndecided = true;
    else report(at, j);
  } else if (size > largest || at < position) { largest = size; pivot = v; position = at; best = a; }
}

// Column j of the panel: the entries of the active rows and, in the message, the best pivot among them with its row of U. False if, with all
// rows, an entry is undecided.
export function luRanksPropose(j: i32): void { propose(j); }
function propose(j: i32): bool {
  const lane = j - first, group = lane >> 3;
  if (searched != j) {
    startSearch(j);
    const bound = boundAfter(columnAt(lane), j);
    for (let a = 0; a < activeCount && !isUndecided; ++a) search(a, lane, j, bound);
  }
  if (isUndecided) return false;
  f64.store(message, pivot);
  f64.store(message, <f64>position, 8);
  f64.store(message, failed, 16);
  if (best < 0) return true;
  const top = first + 8 * group;
  for (let g = group; g < groups; ++g) {
    const record = trial + g * SUMS;
    memory.copy(record, sumsAt(best, g), SUMS);
    if (g > group && j > top) strip<f64, Unchecked>(lAt(best, 8 * group), 8, panelAt(g) + (<usize>top << 6), 64, j - top, record);
    for (let k = g == group ? lane + 1 : 8 * g; k < 8 * g + 8; ++k) {
      const v = entry(best, k, record + laneAt(k), j, boundAfter(columnAt(k), j));
      if (hasAll && v != v) return false;
      f64.store(message + LU_PROPOSED + (k << 3), v);
    }
  }
  return true;
}

// Column j, after all ranks have proposed a pivot: swap rows, finish row j of U and column j of L, and subtract their products. Returns 0;
// 1 if the pivot is zero; 2 if an entry overflowed in this column, the first in the order of the unblocked algorithm.
export function luRanksPivot(j: i32): i32 {
  let from: usize = 0, position = m;
  for (let r = 0; r < ranks; ++r) {
    const at = messages + <usize>r * LU_MESSAGE, p = <i32>f64.load(at, 8);
    failed = min(failed, f64.load(at, 16));
    if (p < 0) continue;
    const size = abs(f64.load(at)), largest = from == 0 ? -1 : abs(f64.load(from));
    if (size > largest || (size == largest && p < position)) { from = at; position = p; }
  }
  if (failed < <f64>(j + 1) * <f64>m) return 2;
  if (f64.load(from) == 0) return 1;
  pivotStep(j, from);
  return 0;
}
// The step with the pivot of this message. The same pass over the rows searches for the next pivot, if its column is in the group too: the
// sums are in registers then.
function pivotStep(j: i32, from: usize): void {
  const u = f64.load(from), chosen = <i32>f64.load(from, 8);
  i32.store(pivots + (<usize>j << 2), chosen);
  exchangeRows(j, chosen);

  const lane = j - first, group = lane >> 3, end = min(8 * group + 8, n - first);
  for (let k = 0; k < 8; ++k) f64.store(pivotRow + (k << 3), 0); // finished columns keep their sums
  f64.store(panelAt(group) + (<usize>j << 6) + laneAt(lane), u);
  for (let k = lane + 1; k < 8 * groups; ++k) {
    const v = f64.load(from + LU_PROPOSED + (k << 3));
    if (!(v - v == 0)) report(j, first + k);
    if (k < 8 * group + 8) f64.store(pivotRow + laneAt(k), v);
    f64.store(panelAt(k >> 3) + (<usize>j << 6) + laneAt(k), v);
    if (!fits(columnAt(k), v)) coarsen(k);
  }
  const goesOn = lane + 1 < end && j + 1 < steps, bound = goesOn ? boundAfter(columnAt(lane + 1), j + 1) : 0;
  if (goesOn) startSearch(j + 1);
  for (let a = 0; a < activeCount; ++a) {
    const at = lAt(a, lane), s = f64.load(at), l = s == 0 ? 0 : single ? <f64>(<f32>s / <f32>u) : s / u;
    f64.store(at, l);
    if (l != 0) store<u8>(nonzeroL + activeRow(a), 1);
    if (!goesOn) continue;
    subtractProduct(l, pivotRow, (lane & 7) + 1, sumsAt(a, group));
    search(a, lane + 1, j + 1, bound);
  }
  if (lane + 1 == 8 * group + 8) {
    const top = first + 8 * group;
    for (let g = group + 1; g < groups; ++g) {
      const pb = panelAt(g) + (<usize>top << 6);
      for (let a = 0; a < activeCount; ++a) strip<f64, Unchecked>(lAt(a, 8 * group), 8, pb, 64, 8, sumsAt(a, g));
    }
  }
}
// Row `position` becomes row j, and the row there takes its place.
function exchangeRows(j: i32, position: i32): void {
  const row = rowOf(position), other = rowOf(j);
  i32.store(rowAt + (<usize>position << 2), other);
  i32.store(rowAt + (<usize>j << 2), row);
  i32.store(positions + (<usize>other << 2), position);
  i32.store(positions + (<usize>row << 2), j);
  if (hasAll || ownerOf(row) == rank) deactivate(row);
}
function coarsen(lane: i32): void {
  const old = f64.load(columnAt(lane)), G = coarserGrid(columnAt(lane));
  for (let a = 0; a < activeCount; ++a) moveSum(sumsAt(a, lane >> 3) + laneAt(lane), old, G);
}

// Before the rows of L at positions [from, from + count) are exchanged: give each a place, ordered by owner; counts tells how many each
// rank has. This rank's own rows go to their places, padded with zeros to `entries` numbers, and their memory is freed.
export function luRanksPack(from: i32, count: i32, entries: i32): void {
  const block = blockOf(from);
  i32.store(block, entries);
  let place = 0;
  for (let owner = 0; owner < ranks; ++owner) {
    const before = place;
    for (let r = 0; r < count; ++r) {
      const row = i32.load(rowAt + (<usize>(from + r) << 2));
      if (ownerOf(row) == owner) i32.store(block + PLACES + (r << 2), place++);
    }
    i32.store(counts + (<usize>owner << 2), place - before);
  }
  for (let r = 0; r < count; ++r) {
    const row = i32.load(rowAt + (<usize>(from + r) << 2)), N = min(from + r, entries), to = rowOfBlock(block, r);
    if (ownerOf(row) != rank) continue;
    copyRow(slotOf(row), N, to);
    memory.fill(to + (<usize>N << 3), 0, <usize>(entries - N) << 3);
    freeChunks(slotOf(row));
  }
}

// After the exchange: which rows have products at all.
export function luRanksUnpack(from: i32, count: i32): void {
  const block = blockOf(from), width = i32.load(block);
  for (let r = 0; r < count; ++r) {
    const row = rowOfBlock(block, r), end = row + (<usize>min(from + r, width) << 3);
    let at = row;
    while (at < end && f64.load(at) == 0) at += 8;
    store<u8>(block + NONZERO + r, at < end ? 1 : 0);
  }
}

// Store the rows of L in this rank's groups, left of the diagonal. Nothing reads these entries any more.
export function luRanksStore(from: i32, count: i32): void {
  const block = blockOf(from);
  for (let r = 0; r < count; ++r) {
    const i = from + r, N = min(i, steps), row = rowOfBlock(block, r);
    for (let group = rank; 8 * group < N; group += ranks)
      memory.copy(luRanksGroup(group) + (<usize>i << 6), row + (<usize>group << 6), <usize>min(8, N - 8 * group) << 3);
  }
}

// Rows [from, from + count) of U in one of this rank's groups, right of the panel.
export function luRanksSolve(group: i32, from: i32, count: i32): void {
  const base = luRanksGroup(group), columns = base + (<usize>m << 6), entries = base + (<usize>from << 6), block = blockOf(from);
  for (let j = from; j < from + count; ++j) {
    const pivot = i32.load(pivots + (<usize>j << 2));
    if (pivot != j) swapMemory(base + (<usize>j << 6), base + (<usize>pivot << 6), 64);
  }
  for (let r = 0; r < count; ++r)
    for (let lane = 0; lane < 8; ++lane) startSum(blockSums + r * SUMS + laneAt(lane), f64.load(entries + (r << 6) + laneAt(lane)), f64.load(columns + lane * COLUMN));
  for (let k = 0; k < from; k += DEPTH) {
    const depth = min(DEPTH, from - k), pb = base + (<usize>k << 6);
    for (let r = 0; r < count; ++r) strip<f64, Unchecked>(rowOfBlock(block, r) + (<usize>k << 3), 8, pb, 64, depth, blockSums + r * SUMS);
  }
  for (let r = 0; r < count; ++r) {
    const i = from + r, record = blockSums + r * SUMS;
    if (r > 0) strip<f64, Unchecked>(rowOfBlock(block, r) + (<usize>from << 3), 8, entries, 64, r, record);
    for (let lane = 0; lane < 8; ++lane) {
      const column = columns + lane * COLUMN, bound = boundAfter(column, i), p = record + laneAt(lane), at = entries + (r << 6) + laneAt(lane);
      let u = decidedQuickly(p, column, bound, single);
      if (u != u) {
        const a = f64.load(at);
        u = decided(p, column, bound, a, i != 0 && load<u8>(block + NONZERO + r) != 0, single);
        if (u != u) u = exactEntry(a, rowOfBlock(block, r), base + laneAt(lane), i, single);
        if (!(u - u == 0)) report(i, 8 * group + lane);
      }
      f64.store(at, u);
      if (fits(column, u)) continue;
      const old = f64.load(column), G = coarserGrid(column);
      for (let q = r + 1; q < count; ++q) moveSum(blockSums + q * SUMS + laneAt(lane), old, G);
    }
  }
}
