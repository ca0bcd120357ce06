// A tour of the library: results of ordinary floating point next to those of halfulp, with their bits, times and the ratio to the plain
// loop. start.mjs runs it.
import { Accumulator, allocate, exdot, exnrm2, exsum, illConditionedDot } from "../dist/index.js";
import { kernels, Random } from "../dist/study.js";

const bits = new DataView(new ArrayBuffer(8));
const hex = (x) => {
  bits.setFloat64(0, x);
  return bits.getBigUint64(0).toString(16).padStart(16, "0");
};
const show = (label, x, note = "") => console.log(`  ${label.padEnd(36)}${String(x).padStart(22)}   ${hex(x)}   ${note}`.trimEnd());

function plainSum(x) {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i];
  return s;
}
function plainDot(x, y) {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i] * y[i];
  return s;
}

// The best of 15 after a warm-up. For benchmarks see npm run bench.
function time(f) {
  for (let i = 0; i < 20; i++) f();
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 15; i++) {
    const start = performance.now();
    f();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function shuffle(x, seed) {
  const random = new Random(seed);
  const y = x.slice();
  for (let i = y.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [y[i], y[j]] = [y[j], y[i]];
  }
  return y;
}

const n = 1_000_000;
const fused = kernels("embedded").name === "wasm-fma";
console.log(
  `halfulp on the embedded engine, Node ${process.versions.node}: WebAssembly ${fused ? "with" : "without"} fused multiply-add\n`,
);

console.log("A million amounts with cents, each rounded to a double, summed in three orders:");
const random = new Random(1);
const x = Float64Array.from({ length: n }, () => (random.below(2_000_001) - 1_000_000) / 100);
const orders = [x, shuffle(x, 2), shuffle(x, 3)];
for (const [name, sum] of Object.entries({ "plain loop": plainSum, exsum })) {
  for (const [i, order] of orders.entries()) show(i === 0 ? name : `${name}, shuffled (${i})`, sum(order));
}

console.log("\nA dot product of a million pairs with condition number 1e30:");
const hard = illConditionedDot(n, 1e30, 1);
const plain = plainDot(hard.x, hard.y);
show("plain loop", plain, Math.abs(plain - hard.dot) > Math.abs(hard.dot) ? "no digit is correct" : "");
show("exdot", exdot(hard.x, hard.y));
show("the exact value, rounded", hard.dot, hard.dot === exdot(hard.x, hard.y) ? "the same bits" : "NOT THE SAME");

console.log("\nThe first sum from 1000 pieces, accumulated separately and merged in another order:");
const pieces = Array.from({ length: 1000 }, (_, i) => new Accumulator().add(x.subarray(1000 * i, 1000 * (i + 1))));
show(
  "1000 merged accumulators",
  pieces
    .reverse()
    .reduce((a, b) => a.merge(b))
    .value(),
);

console.log("\nIntermediate results out of range, but a result in range:");
const tiny = Float64Array.of(3e-200, 4e-200);
const [a, b] = [Float64Array.of(1e200, 1, -1e200), Float64Array.of(1e200, 1, 1e200)];
show("plain norm of [3e-200, 4e-200]", Math.sqrt(plainDot(tiny, tiny)));
show("exnrm2", exnrm2(tiny));
show("plain 1e400 + 1 - 1e400", plainDot(a, b));
show("exdot", exdot(a, b));

console.log("\nTimes for a million pairs, best of 15:");
const y = Float64Array.from({ length: n }, () => random.signed());
const u = allocate(n);
const v = allocate(n);
u.set(x);
v.set(y);
const sum = time(() => plainSum(x));
const dot = time(() => plainDot(x, y));
for (const [label, ms, plain] of [
  ["plain sum", sum, sum],
  ["exsum", time(() => exsum(x)), sum],
  ["exsum in engine memory (allocate)", time(() => exsum(u)), sum],
  ["plain dot product", dot, dot],
  ["exdot", time(() => exdot(x, y)), dot],
  ["exdot in engine memory (allocate)", time(() => exdot(u, v)), dot],
  ["exdot, condition 1e30", time(() => exdot(hard.x, hard.y)), dot],
]) {
  console.log(`  ${label.padEnd(34)}${ms.toFixed(3).padStart(9)} ms   ${(ms / plain).toFixed(2).padStart(5)} times the plain loop`);
}
