// What the proofs of solve() over ranks rest on: the inverses X and Y of the factors keep |L X - I| <= gamma |L| |X| and likewise for U, and
// weigh() computes |T| v. Rank 0 prints the number of orders.
import { embedded } from "../../../dist/engines/embedded.js";
import { onThisThread } from "../../../dist/engines/wasm/backend.js";
import { Context } from "../../../dist/ranks/context.js";
import { Communicator } from "../../../dist/ranks/mpi/communicator.js";
import { RankKernels } from "../../../dist/ranks/solve/kernels.js";

const context = new Context(await Communicator.open(undefined), onThisThread(embedded()));
const ORDERS = [1, 2, 9, 40, 130];
for (const n of ORDERS) {
  const kernels = new RankKernels(context, n);
  const array = kernels.newMatrix();
  const rows = kernels.layout.rowsOn(context.comm.rank);
  await kernels.fill(
    "test",
    array,
    Float64Array.from({ length: rows.length * n }, (_, k) => Math.sin(1 + rows[Math.floor(k / n)] * n + (k % n))),
  );
  const [ones, none] = [new Float64Array(n).fill(1), new Float64Array(0)];
  const { approximate } = kernels;
  const factors = await approximate.factorize("test", array.operand, { rows: ones, cols: ones }, "binary64", none, 0, none);
  const inverses = await approximate.invert("test", factors);
  const lu = await kernels.shareRows({ rows, data: factors.lu.entries.data }, n, n);
  for (const part of ["lower", "upper"]) {
    const inverse = await kernels.readColumns(inverses.both[part].operand, 0, n);
    const at = (i, j) => (part === "lower" ? (i === j ? 1 : i > j ? lu[i * n + j] : 0) : i <= j ? lu[i * n + j] : 0);
    const weighed = [new Float64Array(n), new Float64Array(n)];
    await approximate.weigh("test", factors, part, ones, weighed[0]);
    await approximate.weigh("test", inverses, part, ones, weighed[1]);
    for (let i = 0; i < n; i++) {
      let sums = [0, 0];
      for (let j = 0; j < n; j++) {
        let [error, size] = [i === j ? -1 : 0, 0];
        for (let k = 0; k < n; k++) {
          error += at(i, k) * inverse[k * n + j];
          size += Math.abs(at(i, k) * inverse[k * n + j]);
        }
        // The roundings of this check itself are at most n more.
        if (!(Math.abs(error) <= (factors.roundings + n + 2) * 2 ** -53 * (size + 1)))
          throw new Error(`n = ${n}: the inverse of the ${part} factor is off by ${error} at (${i}, ${j}), where terms are ${size}`);
        sums = [sums[0] + Math.abs(at(i, j)), sums[1] + Math.abs(inverse[i * n + j])];
      }
      for (const [which, sum] of sums.entries())
        if (!(Math.abs(weighed[which][i] - sum) <= 2 * (n + 2) * 2 ** -53 * sum))
          throw new Error(
            `n = ${n}: row ${i} of the ${part} ${which === 0 ? "factor" : "inverse"} weighs ${weighed[which][i]}, expected ${sum}`,
          );
    }
  }
  factors.free();
  array.free();
}
if (context.comm.rank === 0) console.log(`orders ${ORDERS.length}`);
await context.close();
