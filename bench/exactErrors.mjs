// Exact solutions and the errors of computed ones, in BigInt: vectors are integers over one denominator.

const view = new DataView(new ArrayBuffer(8));

// A finite number as [m, e], the number being m * 2^e.
function decode(x) {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const m = (bits & 0xfffffffffffffn) | (field === 0 ? 0n : 1n << 52n);
  return [x < 0 ? -m : m, Math.max(field, 1) - 1075];
}

// Finite numbers as integers in units of the last bit of the smallest.
function onGrid(numbers) {
  const pairs = Array.from(numbers, decode);
  const least = pairs.reduce((e, [m, f]) => (m === 0n ? e : Math.min(e, f)), 1024);
  return { integers: pairs.map(([m, e]) => (m === 0n ? 0n : m << BigInt(e - least))), exponent: least };
}

const magnitude = (n) => (n < 0n ? -n : n);
const rowsOf = (integers, n) => Array.from({ length: integers.length / n }, (_, i) => integers.slice(i * n, (i + 1) * n));

function largest(v) {
  let most = 0n;
  for (const n of v) if (magnitude(n) > most) most = magnitude(n);
  return most;
}

/** a / b to a double's precision, for b > 0. */
function quotient(a, b) {
  if (a === 0n) return 0;
  const shift = b.toString(2).length - a.toString(2).length + 64; // the quotient then has 64 or 65 bits
  const q = shift > 0 ? (a << BigInt(shift)) / b : a / (b << BigInt(-shift));
  return Number(q) * 2 ** -shift;
}

/** ||exact - computed|| / ||exact|| in the max norm; null where an element is not finite. */
export function relativeError({ numerators, denominator }, computed) {
  if (!computed.every(Number.isFinite)) return null;
  const { integers, exponent } = onGrid(computed);
  const [up, down] = [BigInt(Math.max(exponent, 0)), BigInt(Math.max(-exponent, 0))];
  const errors = numerators.map((n, i) => (n << down) - ((integers[i] * denominator) << up));
  return quotient(largest(errors), largest(numerators) << down);
}

/** A x, and || |A| |x| || / ||A x||, for a square A stored row by row. */
export function exactProduct(A, x) {
  const left = onGrid(A.data);
  const right = onGrid(x);
  const products = rowsOf(left.integers, x.length).map((row) => row.map((a, j) => a * right.integers[j]));
  const sums = products.map((row) => row.reduce((s, p) => s + p, 0n));
  const sizes = products.map((row) => row.reduce((s, p) => s + magnitude(p), 0n));
  const exponent = left.exponent + right.exponent;
  return {
    y: {
      numerators: exponent > 0 ? sums.map((s) => s << BigInt(exponent)) : sums,
      denominator: 1n << BigInt(Math.max(-exponent, 0)),
    },
    condition: quotient(largest(sizes), largest(sums)),
  };
}

/** The solution of T x = b for a lower triangular T stored row by row. */
export function exactSubstitution(T, b) {
  const n = b.length;
  const rows = rowsOf(onGrid([...T.data, ...b]).integers, n);
  const right = rows.pop();
  // x_i is numerators[i] over the product of the diagonal entries up to i, and in the end over all of them.
  const numerators = [];
  let denominator = 1n;
  for (let i = 0; i < n; i++) {
    const diagonal = rows[i][i];
    const sum = numerators.reduce((s, x, j) => s - rows[i][j] * x, right[i] * denominator);
    for (let j = 0; j < i; j++) numerators[j] *= diagonal;
    numerators.push(sum);
    denominator *= diagonal;
  }
  return positive(numerators, denominator);
}

/** The solution of A x = b, and ||A|| ||A^-1|| in the infinity norm, for a square A stored row by row: Bareiss's elimination. */
export function exactSolution(A, b) {
  const n = b.length;
  const rows = rowsOf(onGrid([...A.data, ...b]).integers, n);
  const right = rows.pop();
  const norm = rowNorm(rows);
  for (const [i, row] of rows.entries()) for (let j = 0; j < n; j++) row.push(i === j ? 1n : 0n);
  let previous = 1n;
  for (let k = 0; k < n; k++) {
    const p = rows.findIndex((row, i) => i >= k && row[k] !== 0n);
    [rows[k], rows[p]] = [rows[p], rows[k]];
    const pivot = rows[k][k];
    for (const row of rows) {
      if (row === rows[k]) continue;
      const factor = row[k];
      for (let j = k; j < 2 * n; j++) row[j] = (pivot * row[j] - factor * rows[k][j]) / previous;
    }
    previous = pivot;
  }
  const inverse = rows.map((row) => row.slice(n));
  const numerators = inverse.map((row) => row.reduce((s, v, j) => s + v * right[j], 0n));
  return { x: positive(numerators, previous), condition: quotient(norm * rowNorm(inverse), magnitude(previous)) };
}

const rowNorm = (rows) => largest(rows.map((row) => row.reduce((s, v) => s + magnitude(v), 0n)));

function positive(numerators, denominator) {
  return denominator < 0n ? { numerators: numerators.map((n) => -n), denominator: -denominator } : { numerators, denominator };
}
