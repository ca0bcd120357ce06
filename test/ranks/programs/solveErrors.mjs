// Bad arguments, aborted calls and callbacks that throw in solve() over ranks. Every rank prints what it got, with its number.
import { illConditionedMatrix } from "../../../dist/index.js";
import { openRanks } from "../../../dist/mpi.js";

const ranks = await openRanks();
const { rank } = ranks;
const n = 30;
const A = illConditionedMatrix(n, 1e40, 1);
const D = await ranks.matrix(n, n, (i, j) => A.data[i * n + j], { blockSize: 4 });
const wide = await ranks.matrix(2, 3, () => 1);
const b = new Float64Array(n).fill(1);

async function report(name, call) {
  let line;
  try {
    const { certified, method } = await call();
    line = `${certified} ${method}`;
  } catch (error) {
    line = `${error.name}: ${error.message}`;
  }
  process.stdout.write(`[${rank}] ${name}: ${line}\n`);
}

await report("mixed", () => ranks.solve(D, b, { method: "mixed" }));
await report("wide", () => ranks.solve(wide, Float64Array.of(1, 2)));
await report("short b", () => ranks.solve(D, b.subarray(1)));
await report("NaN in b", () => ranks.solve(D, b.with(3, Number.NaN)));
await report("other b", () => ranks.solve(D, rank === 1 ? b.with(3, 2) : b));
await report("other options", () => ranks.solve(D, b, rank === 1 ? { fallback: false } : {}));
await report("no options", () => ranks.solve(D, b, 3));
await report("aborted before", () => ranks.solve(D, b, rank === 1 ? { signal: AbortSignal.abort(new Error("no more")) } : {}));
const controller = new AbortController();
const stop = () => controller.abort(new Error("enough"));
await report("aborted", () => ranks.solve(D, b, rank === 1 ? { signal: controller.signal, onProgress: stop } : {}));
const fail = () => {
  throw new Error("a callback failed");
};
await report("callback", () => ranks.solve(D, b, rank === 1 ? { onProgress: fail } : {}));
await report("factor", () => ranks.factor(D, rank === 1 ? { onProgress: fail } : {}));
const factors = await ranks.factor(D);
await report("factors, mixed", () => factors.solve(b, rank === 1 ? { method: "mixed" } : {}));
await report("the next call", () => ranks.solve(D, b));
await ranks.close();
await report("closed", () => ranks.solve(D, b));
