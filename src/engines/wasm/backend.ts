// The row "wasm" of the table of engines: the synchronous kernels of this thread behind promises. open("auto") also uses it with the
// kernels in plain TypeScript, where WebAssembly is not available.
import { EngineError } from "../../arrays/errors.ts";
import { rowMajor, rowMajorCopy, type StridedMatrix } from "../../arrays/matrix.ts";
import type { Real } from "../../arrays/types.ts";
import { copyOf, newVector, part } from "../../arrays/vectors.ts";
import type { Backend } from "../backend.ts";
import { embedded } from "../embedded.ts";
import { missingForWasm } from "../embeddedVectors.ts";
import type { LocalKernels } from "../kernels.ts";
import { reduce } from "../reduce.ts";
import type { Probe } from "../table.ts";

/** Whether this machine can run the engine. */
export function probeWasm(): Probe {
  const missing = missingForWasm();
  return missing === undefined
    ? { device: embedded().name }
    : { reason: `the engine needs ${missing}; open("auto") runs plain TypeScript` };
}

/** Opens the engine "wasm". It never falls back to plain TypeScript, which is much slower: the caller has to ask for that. */
export function openWasm(): Backend {
  const probe = probeWasm();
  if ("reason" in probe) throw new EngineError(`open: ${probe.reason}`);
  return onThisThread(embedded());
}

/** An engine on this thread: a call computes its results at once, and writes them when its promise resolves. */
export function onThisThread(kernels: LocalKernels): Backend {
  const { memory } = kernels;
  return {
    kind: "wasm",
    device: kernels.name,
    async gemv(alpha, A, x, beta, y: Real) {
      const copy = copyOf("exgemv", y);
      kernels.gemv(alpha, A, x, beta, copy);
      await undefined;
      y.set(copy);
    },
    async spmv(alpha, A, x, beta, y: Real) {
      const copy = copyOf("exspmv", y);
      kernels.spmv(alpha, A, x, beta, copy);
      await undefined;
      y.set(copy);
    },
    ilu0: async (...args) => kernels.ilu0(...args),
    krylov: kernels.krylov,
    async gemm(alpha, A, B, beta, C: StridedMatrix) {
      const copy = rowMajorCopy("exgemm", C);
      kernels.gemm(alpha, A, B, beta, rowMajor(copy, C.rows, C.cols));
      await undefined;
      for (let i = 0; i < C.rows; i++) {
        const to = C.offset + i * C.rowStride;
        if (C.colStride === 1) C.data.set(part(copy, i * C.cols, C.cols), to);
        else for (let j = 0; j < C.cols; j++) C.data[to + j * C.colStride] = copy[i * C.cols + j] as number;
      }
    },
    trsv: async (...args) => kernels.trsv(...args),
    trsm: async (...args) => kernels.trsm(...args),
    lu: (...args) => kernels.lu(...args),
    workers: kernels.workers,
    firstZero: (...args) => kernels.firstZero(...args),
    neighbours: (...args) => kernels.neighbours(...args),
    async sptrsv(system, b, x) {
      const copy = newVector("TriangularPlan.solve", x, x.length);
      kernels.sptrsv(system, b, copy);
      await undefined;
      x.set(copy);
    },
    sptrsm: async (...args) => kernels.sptrsm(...args),
    approximate: kernels.approximate,
    reduce: async (...args) => reduce(kernels, ...args),
    async accumulate(op, x, y, into) {
      kernels.accumulate(op, x, y, into, true);
    },
    // Always a copy: between two steps the caller may change a matrix that is in this memory but not a resident.
    memory: { ...memory, keepMatrix: (routine, A) => memory.keepMatrix(routine, A, true) },
    async close() {},
  };
}
