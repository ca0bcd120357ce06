// Systems that are hard to solve with correct rounding, for correct.mjs: ill-conditioned, with zeros and ties, badly scaled, singular.
// Each is { name, limit, aim, make }, times in seconds; `make` returns { n, A, b }; `fails` marks singular systems.
import { square, uniform } from "../harness/data.mjs";
import { main, study } from "../harness/library.mjs";

const integers = (x, size) => x.map((v) => Math.round(v * size));

/** Half of the components are zero, because of a block of zeros hidden by permutations. */
export function hiddenZeros(n) {
  const random = new study.Random(5);
  const half = n / 2;
  const [rows, cols] = [permutation(n, random), permutation(n, random)];
  const [block, right] = [square(n, 6), uniform(n, 7)];
  const A = new Float64Array(n * n);
  const b = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) A[rows[i] * n + cols[j]] = i >= half && j < half ? 0 : block[i * n + j];
    b[rows[i]] = i < half ? right[i] : 0;
  }
  return { n, A, b };
}

function permutation(n, random) {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

// The sum of the first two rows is 2 x_0 = 2 + 2^-52, so x_0 is half way between two floating-point numbers. The other components are arbitrary.
function tie(n) {
  const A = square(n, 8);
  const b = uniform(n, 9);
  const onGrid = (v) => Math.ceil(Math.abs(v) * 2 ** 52) / 2 ** 52; // so that 2 - v is a floating-point number
  A[0] = onGrid(A[0]);
  A[n] = 2 - A[0];
  for (let j = 1; j < n; j++) A[n + j] = -A[j];
  b[0] = onGrid(b[0]);
  b[1] = 1 - b[0] + (1 + 2 ** -52);
  return { n, A, b };
}

function bitPatterns(n) {
  const random = new study.Random(10);
  const view = new DataView(new ArrayBuffer(8));
  const finite = () => {
    for (;;) {
      for (const at of [0, 4]) view.setUint32(at, random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16));
      if (Number.isFinite(view.getFloat64(0))) return view.getFloat64(0);
    }
  };
  return { n, A: Float64Array.from({ length: n * n }, finite), b: Float64Array.from({ length: n }, finite) };
}

function graded(n) {
  const random = new study.Random(11);
  const A = square(n, 12).map((v) => v * 2 ** (random.below(2001) - 1000));
  return { n, A, b: uniform(n, 13) };
}

// The product of two unit triangles of integers has determinant 1.
function determinantOne(n) {
  const [L, U] = [integers(square(n, 14), 3), integers(square(n, 15), 3)];
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      for (let k = 0; k <= Math.min(i, j); k++) A[i * n + j] += (k === i ? 1 : L[i * n + k]) * (k === j ? 1 : U[k * n + j]);
  return { n, A, b: uniform(n, 16) };
}

function smallCombination(n) {
  const A = integers(square(n, 17), 2 ** 40);
  for (let i = 0; i < n; i++) A[i * n + 777] = 2 * A[i * n + 3] - A[i * n + 500] + 4 * A[i * n + 12];
  return { n, A, b: uniform(n, 18) };
}

// The sum of all rows is zero: the coefficients of the dependent column have no short form.
function generic(n) {
  const A = integers(square(n, 19), 2 ** 40);
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let i = 0; i < n - 1; i++) sum += A[i * n + j];
    A[(n - 1) * n + j] = -sum;
  }
  return { n, A, b: uniform(n, 20) };
}

const ill = (n, condition) => ({ n, A: main.illConditionedMatrix(n, condition, 3).data, b: uniform(n, 21) });

export const HARD = [
  { name: "condition 1e20, n = 200", limit: 0.5, aim: 0.1, make: () => ill(200, 1e20) },
  { name: "condition 1e60, n = 100", limit: 1, aim: 0.2, make: () => ill(100, 1e60) },
  { name: "condition 1e20, n = 1000", make: () => ill(1000, 1e20), slow: true },
  { name: "one exact tie, n = 500", limit: 10, aim: 2, make: () => tie(500) },
  { name: "random bit patterns, n = 100", limit: 20, aim: 5, make: () => bitPatterns(100) },
  { name: "graded over 2^±1000, n = 100", limit: 20, aim: 5, make: () => graded(100) },
  { name: "determinant 1, n = 100", limit: 20, aim: 5, make: () => determinantOne(100) },
  { name: "singular, a small combination, n = 1000", limit: 3, aim: 1, make: () => smallCombination(1000), fails: true, slow: true },
  { name: "singular, generic, n = 1000", limit: 60, aim: 20, make: () => generic(1000), fails: true, slow: true },
];
