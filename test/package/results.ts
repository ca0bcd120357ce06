// What the package must return wherever it is installed: bits from every family of routines, as hex. The library is an
// argument, so that the same lines run on the sources, in Node on the installed package, and in a browser.
import type * as Library from "../../src/index.ts";

export async function resultsOf(halfulp: typeof Library): Promise<Record<string, string>> {
  const { x, y } = halfulp.illConditionedDot(2000, 1e30, 1);
  const A = halfulp.illConditionedMatrix(60, 1e10, 2);
  const b = halfulp.exgemv(1, A, x.subarray(0, 60), 0, new Float64Array(60));
  const grid = halfulp.laplacian(12, 12);
  const plan = halfulp.sptrsv(halfulp.ilu0(grid), { unit: true });
  const engine = await halfulp.open("threads", { threads: 2 });
  const C = halfulp.matrix(new Float64Array(3600), 60, 60);
  await engine.exgemm(1, A, A, 0, C);
  await engine.close();
  return {
    exsum: hex(Float64Array.of(halfulp.exsum(x), halfulp.exsum(Float32Array.from(x)))),
    exdot: hex(Float64Array.of(halfulp.exdot(x, y), halfulp.exdot(x, y, { round: "up" }))),
    accumulator: hex(new halfulp.Accumulator().addProduct(x, y).add(x).toBytes()),
    exgemv: hex(b),
    extrsv: hex(halfulp.extrsv(A, b)),
    exlu: hex(halfulp.exlu(A).solve(b, { refine: 1 })),
    sptrsv: hex(plan.solve(x.subarray(0, 144))),
    "exgemm, threads": hex(C.data),
    solve: hex(halfulp.solve(A, b).x),
    "solve, exact factors": hex(halfulp.solve(A, b, { method: "exact", rounding: "backward" }).x),
    npy: hex(halfulp.writeNpy(A)),
  };
}

// FNV-1a: whether all bits agree, in one word that needs no cryptography.
function hex(values: ArrayBufferView): string {
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(values.buffer, values.byteOffset, values.byteLength)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
