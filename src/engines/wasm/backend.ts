// The engine "wasm" as open() gives it: the synchronous kernels of this thread behind promises. Plain TypeScript takes their place
// where WebAssembly cannot be used and the caller leaves the choice of an engine open.
import { EngineError } from "../../arrays/errors.ts";
import type { StridedMatrix } from "../../arrays/matrix.ts";
import type { Real, Reduction } from "../../arrays/types.ts";
import { copyOf, newVector } from "../../arrays/vectors.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import { reduce } from "../../routines/reduce.ts";
import type { ApproximateKernels } from "../approximate.ts";
import type { Backend } from "../backend.ts";
import { embedded } from "../embedded.ts";
import { embeddedMemory, missingForWasm } from "../embeddedVectors.ts";
import type { LocalKernels } from "../kernels.ts";
import { storeIn } from "../memory.ts";
import type { Probe } from "../table.ts";

/** Whether this machine can run the engine. */
export function probeWasm(): Probe {
  const missing = missingForWasm();
  return missing === undefined
    ? { device: embedded().name }
    : { reason: `the engine needs ${missing}; open("auto") runs plain TypeScript` };
}

/** The engine "wasm". It does not fall back to plain TypeScript, which is too slow to take its place unasked. */
export function openWasm(): Backend {
  const probe = probeWasm();
  if ("reason" in probe) throw new EngineError(`open: ${probe.reason}`);
  return onThisThread(embedded());
}

/** An engine on this thread: the work is done at the call, results are written when its promise resolves. */
export function onThisThread(kernels: LocalKernels): Backend {
  const memory = embeddedMemory();
  return {
    kind: "wasm",
    device: kernels.name,
    async gemv(alpha, A, x, beta, y) {
      const copy = copyOf("exgemv", y);
      kernels.gemv(alpha, A, x, beta, copy);
      await undefined;
      y.set(copy);
    },
    async gemm(alpha, A, B, beta, C) {
      const copy = compact(C);
      kernels.gemm(alpha, A, B, beta, copy);
      await undefined;
      writeBack(copy, C);
    },
    trsv: async (...args) => kernels.trsv(...args),
    lu: async (...args) => kernels.lu(...args),
    workers: kernels.workers,
    reserve: (...args) => kernels.reserve(...args),
    firstZero: (...args) => kernels.firstZero(...args),
    neighbours: (...args) => kernels.neighbours(...args),
    async sptrsv(system, b, x) {
      const copy = newVector("TriangularPlan.solve", x, x.length);
      kernels.sptrsv(system, b, copy);
      await undefined;
      x.set(copy);
    },
    approximate: lasting(kernels.approximate),
    reduce: async (...args) => reduce(kernels, ...args),
    async accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator) {
      kernels.accumulate(op, x, y, into, true);
    },
    store: storeIn(<V extends Real | Int32Array>(like: V, length: number) => {
      type Constructor = { readonly BYTES_PER_ELEMENT: number; new (...args: unknown[]): V & Real };
      const type = (like.BYTES_PER_ELEMENT === 8 ? Float64Array : Float32Array) as unknown as Constructor;
      const array = memory ? memory.allocate<V & Real>(length, type) : new type(length);
      return { array, free: () => memory?.free(array) };
    }, false),
    async close() {},
  };
}

// Between two steps the caller may change what is in this memory, unless it is a resident; a copy is always right.
function lasting(approximate: ApproximateKernels): ApproximateKernels {
  return {
    keep: (routine, A) => approximate.keep(routine, A, true),
    magnitudes: (...args) => approximate.magnitudes(...args),
    factorize: (...args) => approximate.factorize(...args),
    ...(approximate.residual && { residual: approximate.residual.bind(approximate) }),
    substitute: (...args) => approximate.substitute(...args),
    invert: (...args) => approximate.invert(...args),
    weigh: (...args) => approximate.weigh(...args),
    ...(approximate.subtractModulo && { subtractModulo: approximate.subtractModulo.bind(approximate) }),
  };
}

function compact(A: StridedMatrix): StridedMatrix {
  const data = newVector("exgemm", A.data, A.rows * A.cols);
  const copy = { data, offset: 0, rows: A.rows, cols: A.cols, rowStride: A.cols, colStride: 1 };
  writeBack(A, copy);
  return copy;
}

function writeBack(from: StridedMatrix, to: StridedMatrix): void {
  for (let i = 0; i < to.rows; i++)
    for (let j = 0; j < to.cols; j++)
      to.data[to.offset + i * to.rowStride + j * to.colStride] = from.data[from.offset + i * from.rowStride + j * from.colStride] as number;
}
