// Elimination modulo a prime: whether an integer matrix is regular, and its inverse modulo that prime. Residues are balanced, at most
// p / 2 in magnitude, in binary64. Called by exact.ts; padic.ts lifts with the inverse (docs/solve.md, stage 5).

import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { isOnHost } from "../../arrays/operands.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { allRows, keepRows, readDistributedColumns, readDistributedRows } from "./held.ts";
import { digitBits, type Slices } from "./integers.ts";
import type { Progress } from "./progress.ts";

// The number of columns that are eliminated together. The host eliminates within a panel, PANEL n^2 operations in all; the engine updates
// the rest of the matrix.
const PANEL = 32;

/** x modulo p, at most p / 2 in magnitude; |x| < 2^52. */
export const remainder = (x: number, p: number): number => x - p * Math.floor(x / p + 0.5);

/** The primes whose residues are digits for systems of order n, the largest first. */
export function* digitPrimes(n: number): Generator<number> {
  for (let p = 2 ** digitBits(n) - 1; p > 2; p -= 2) if (isPrime(p)) yield p;
}

function isPrime(p: number): boolean {
  for (let d = 3; d * d <= p; d += 2) if (p % d === 0) return false;
  return true;
}

// The inverse of x modulo p, by Euclid's algorithm.
function inverseModulo(x: number, p: number): number {
  let [r0, r1, t0, t1] = [p, x < 0 ? x + p : x, 0, 1];
  while (r1 !== 0) {
    const q = Math.floor(r0 / r1);
    [r0, r1, t0, t1] = [r1, r0 - q * r1, t1, t0 - q * t1];
  }
  return remainder(t0, p);
}

/** The held rows of M modulo p. */
export function residuesOf({ n, rows, bits, count, data }: Slices, p: number): Float64Array {
  const length = rows.length * n;
  const residues = new Float64Array(length);
  let power = 1;
  for (let s = 0; s < count; s++) {
    const from = s * length;
    // Products are below 2^44: a hundred of them can be summed before a remainder is taken.
    const isLast = s === count - 1 || s % 100 === 99;
    for (let e = 0; e < length; e++) {
      const sum = (residues[e] as number) + (data[from + e] as number) * power;
      residues[e] = isLast ? remainder(sum, p) : sum;
    }
    power = remainder(power * 2 ** bits, p);
  }
  return residues;
}

/** The inverse modulo p on the engine: its entry (k, rows[l]) is entry (rows[k], l) of the allocation. */
export interface ModularInverse {
  readonly p: number;
  readonly rows: Int32Array;
  readonly allocation: Allocation<StridedOperand>;
}

/** Column `column` depends on those before it modulo p; these have their pivots in `rows`. */
export interface Dependent {
  readonly p: number;
  readonly column: number;
  readonly rows: Int32Array;
}

export const isDependent = (found: ModularInverse | Dependent): found is Dependent => "column" in found;

/**
 * Invert residues modulo p by Gauss-Jordan elimination in place, by blocks of columns, without moving rows. Let D be the entries of the
 * block in its pivot rows, and B those in the other rows. Then elimination subtracts a product with few columns and rows from the whole
 * matrix C:
 *
 *   in pivot rows  C - (I - D^-1) Q,   in other rows  C - B D^-1 Q,   Q = the pivot rows of C, plus I in the columns of the block.
 *
 * In the columns of the block D - (I - D^-1)(D + I) = D^-1 and B - B D^-1 (D + I) = -B D^-1, as they must be. Undefined if the call was
 * aborted. Every process eliminates the panels, which are few columns, and updates the rows that it holds.
 */
export function* invertModulo(
  routine: string,
  residues: Float64Array,
  n: number,
  p: number,
  progress: Progress,
  held = allRows(n),
): Routine<ModularInverse | Dependent | undefined> {
  const allocation = yield* keepRows(routine, { rows: held, data: residues }, n, n);
  const rows = new Int32Array(n).fill(-1);
  const isUsed = new Uint8Array(n);
  let isInverted = false;
  try {
    for (let first = 0; first < n; first += PANEL) {
      if (!(yield* progress.shouldContinue("elimination", first / n))) return undefined;
      const width = Math.min(PANEL, n - first);
      const panel = yield* readColumns(allocation.value, first, width);
      const column = eliminate(panel, n, width, p, isUsed, rows.subarray(first, first + width));
      if (column >= 0) return { p, column: first + column, rows: rows.slice(0, first + column) };
      const Q = yield* readRows(allocation.value, rows.subarray(first, first + width));
      formUpdateFactors(panel, Q, n, first, width, p, rows);
      yield* subtractProduct(routine, allocation.value, panel, Q, width, p);
    }
    isInverted = true;
    return { p, rows, allocation };
  } finally {
    if (!isInverted) allocation.free();
  }
}

// Turn the eliminated panel and the pivot rows of C into the two factors of the product above, in place.
function formUpdateFactors(
  panel: Float64Array,
  Q: Float64Array,
  n: number,
  first: number,
  width: number,
  p: number,
  rows: Int32Array,
): void {
  for (let e = 0; e < panel.length; e++) panel[e] = -(panel[e] as number);
  for (let k = 0; k < width; k++) {
    Q[k * n + first + k] = remainder((Q[k * n + first + k] as number) + 1, p);
    const at = (rows[first + k] as number) * width + k;
    panel[at] = remainder((panel[at] as number) + 1, p);
  }
}

// Eliminate a panel, n by width, in place: D^-1 in the pivot rows, -B D^-1 in the others. Returns -1, or the column that has no pivot.
// Remainders of a column are taken when it is eliminated: until then an entry is at most p + 64 (p / 2)^2 < 2^52.
function eliminate(panel: Float64Array, n: number, width: number, p: number, isUsed: Uint8Array, rows: Int32Array): number {
  const pivotRow = new Float64Array(width);
  for (let c = 0; c < width; c++) {
    for (let at = c; at < n * width; at += width) panel[at] = remainder(panel[at] as number, p);
    let row = 0;
    while (row < n && (isUsed[row] === 1 || panel[row * width + c] === 0)) row++;
    if (row === n) return c;
    isUsed[row] = 1;
    rows[c] = row;
    const factor = inverseModulo(panel[row * width + c] as number, p);
    panel[row * width + c] = 1;
    for (let k = 0; k < width; k++) pivotRow[k] = remainder(remainder(panel[row * width + k] as number, p) * factor, p);
    panel.set(pivotRow, row * width);
    for (let i = 0; i < n; i++) if (i !== row) subtractRow(panel, i * width, c, width, pivotRow);
  }
  for (let e = 0; e < panel.length; e++) panel[e] = remainder(panel[e] as number, p);
  return -1;
}

function subtractRow(panel: Float64Array, at: number, c: number, width: number, pivotRow: Float64Array): void {
  const f = panel[at + c] as number;
  if (f === 0) return;
  panel[at + c] = 0;
  for (let k = 0; k < width; k++) panel[at + k] = (panel[at + k] as number) - f * (pivotRow[k] as number);
}

// Columns of a matrix on the engine. If the host cannot read it, by a product with columns of the identity.
function* readColumns(C: StridedOperand, first: number, width: number): Routine<Float64Array> {
  const { data, offset, rows, rowStride } = C;
  const out = new Float64Array(rows * width);
  if (isOnHost(data)) {
    for (let i = 0; i < rows; i++) for (let k = 0; k < width; k++) out[i * width + k] = data[offset + i * rowStride + first + k] as number;
    return out;
  }
  const found = yield* readDistributedColumns(C, first, width);
  if (found) return found;
  const identity = new Float64Array(C.cols * width);
  for (let k = 0; k < width; k++) identity[(first + k) * width + k] = 1;
  yield (kernels) => kernels.gemm(1, C, rowMajor(identity, C.cols, width), 0, rowMajor(out, rows, width));
  return out;
}

// Rows of a matrix on the engine, likewise.
function* readRows(C: StridedOperand, rows: Int32Array): Routine<Float64Array> {
  const { data, offset, cols, rowStride } = C;
  const out = new Float64Array(rows.length * cols);
  if (isOnHost(data)) {
    for (const [k, row] of rows.entries()) for (let j = 0; j < cols; j++) out[k * cols + j] = data[offset + row * rowStride + j] as number;
    return out;
  }
  const found = yield* readDistributedRows(C, rows);
  if (found) return found;
  const identity = new Float64Array(rows.length * C.rows);
  for (const [k, row] of rows.entries()) identity[k * C.rows + row] = 1;
  yield (kernels) => kernels.gemm(1, rowMajor(identity, rows.length, C.rows), C, 0, rowMajor(out, rows.length, cols));
  return out;
}

// C := C - P Q modulo p.
function* subtractProduct(routine: string, C: StridedOperand, P: Float64Array, Q: Float64Array, depth: number, p: number): Routine<void> {
  yield (kernels) => kernels.approximate.subtractModulo(routine, C, P, Q, depth, p);
}
