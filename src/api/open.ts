import { checkCount, checkOptions, checkWord } from "../arrays/checks.ts";
import { EngineError } from "../arrays/errors.ts";
import type { StridedMatrix } from "../arrays/matrix.ts";
import type { Real, Reduction } from "../arrays/types.ts";
import { copyOf, newVector } from "../arrays/vectors.ts";
import type { ApproximateKernels } from "../engines/approximate.ts";
import { embedded } from "../engines/embedded.ts";
import { embeddedMemory, missingForWasm } from "../engines/embeddedVectors.ts";
import type { LocalKernels } from "../engines/kernels.ts";
import { cores } from "../engines/threads/cores.ts";
import { ThreadKernels } from "../engines/threads/index.ts";
import { Pool } from "../engines/threads/pool.ts";
import { type Spawn, spawner } from "../engines/threads/spawn.ts";
import { sharedModule } from "../engines/wasm/load.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import { reduce } from "../routines/reduce.ts";
import { type Backend, type Engine, type EngineKind, engineOf } from "./engine.ts";
import { storeIn } from "./residents.ts";

/** What open() is asked for. */
export interface OpenOptions {
  /** Workers of the engine "threads"; as many as there are cores unless said otherwise. */
  threads?: number | undefined;
  /** The device of the engine "opencl": its place in the list of devices, "gpu" or "cpu", or a part of its name; the first GPU unless said otherwise. */
  device?: string | number | undefined;
}

const MAX_THREADS = 1024;

/**
 * An engine of this kind, with asynchronous routines: "wasm" on this thread, "threads" on a pool of workers, "opencl" on a GPU,
 * "auto" threads if they can be had, else this thread, in plain TypeScript where WebAssembly cannot be used. Close it when done; one
 * that is left open does not keep the process alive.
 */
export async function open(kind: EngineKind = "auto", options: OpenOptions = {}): Promise<Engine> {
  checkWord("open", "kind", kind, ["auto", "wasm", "threads", "opencl"]);
  checkOptions("open", options, ["threads", "device"]);
  const { threads = cores(), device } = options;
  checkCount("open", "threads", threads, 1);
  if (threads > MAX_THREADS) throw new EngineError(`open: threads is ${threads}, expected at most ${MAX_THREADS}`);
  if (kind === "wasm") return engineOf(onWasm());
  if (kind === "opencl") return engineOf(await (await opencl()).openclBackend(device));
  try {
    return engineOf(await onThreads(threads));
  } catch (error) {
    if (kind === "threads" || !(error instanceof EngineError)) throw error;
    return engineOf(onThisThread(embedded()));
  }
}

/** What could be opened on this machine, and for the rest the one line that says what is missing. */
export async function engines(): Promise<{ kind: string; available: boolean; device?: string; reason?: string }[]> {
  const missing = await missingForThreads();
  return [
    wasmDevice(),
    missing === undefined
      ? { kind: "threads", available: true, device: `${cores()} threads, ${embedded().name}` }
      : { kind: "threads", available: false, reason: missing },
    await openclDevice(),
  ];
}

function wasmDevice(): { kind: string; available: boolean; device?: string; reason?: string } {
  const reason = missingWasm();
  return reason === undefined ? { kind: "wasm", available: true, device: embedded().name } : { kind: "wasm", available: false, reason };
}

function missingWasm(): string | undefined {
  const missing = missingForWasm();
  return missing && `the engine needs ${missing}; open("auto") runs plain TypeScript`;
}

// Loaded when it is asked for: most programs have no use for a GPU.
const opencl = () => import("../engines/opencl/index.ts");

async function openclDevice(): Promise<{ kind: string; available: boolean; device?: string; reason?: string }> {
  try {
    const { name } = (await opencl()).bestOf(await (await opencl()).devices());
    return { kind: "opencl", available: true, device: name };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { kind: "opencl", available: false, reason: error.message.replace(/^opencl: /, "") };
  }
}

async function missingForThreads(): Promise<string | undefined> {
  const missing = missingForWasm();
  if (missing !== undefined) return `threads need ${missing}`;
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  if (typeof SharedArrayBuffer === "undefined" || isolated === false)
    return "threads need shared memory: serve the page with Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
  return (await spawner()) ? undefined : "threads need workers, which this runtime does not have";
}

/** The engine "threads" on this build of the kernels, with workers that `spawn` starts. */
export async function onThreads(
  threads: number,
  variant = embedded().name === "wasm-fma" ? ("fma" as const) : ("dekker" as const),
  spawn?: Spawn,
): Promise<ThreadKernels> {
  const missing = await missingForThreads();
  if (missing !== undefined) throw new EngineError(`open: ${missing}`);
  const module = sharedModule(variant);
  if (!module) throw new EngineError(`open: this machine cannot run wasm-${variant}`);
  const pool = await openPool(module, spawn ?? ((await spawner()) as Spawn), threads);
  return new ThreadKernels(pool, `${threads} threads, wasm-${variant}`);
}

async function openPool(...args: Parameters<typeof Pool.open>): Promise<Pool> {
  try {
    return await Pool.open(...args);
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError(`open: no memory for ${args[2]} threads`, { cause });
  }
}

/** The engine "wasm". Where WebAssembly cannot be used this is an error: plain TypeScript is too slow to take its place unasked. */
export function onWasm(): Backend {
  const missing = missingWasm();
  if (missing !== undefined) throw new EngineError(`open: ${missing}`);
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
