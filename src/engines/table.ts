// The table of engines. open(), engines(), the command, doctor, the report and the tests read it: to add an engine, add a folder and a
// row. docs/architecture.md describes what they have to provide.
import { EngineError } from "../arrays/errors.ts";
import type { Backend } from "./backend.ts";
import { openThreads, probeThreads } from "./threads/backend.ts";
import { cores } from "./threads/cores.ts";
import { openWasm, probeWasm } from "./wasm/backend.ts";

/** Options of open(). */
export interface OpenOptions {
  /** Workers of the engine "threads"; default: one per core. */
  threads?: number | undefined;
  /** The device of the engine "opencl": its index in the list of devices, "gpu", "cpu" or a part of its name; default: the first GPU. */
  device?: string | number | undefined;
}

/** The device that an engine would use, or one line on what is missing and how to get it. */
export type Probe = { readonly device: string } | { readonly reason: string };

/** Options for open() with a name for tables of results. */
export interface Configuration {
  readonly name: string;
  readonly options: OpenOptions;
}

/** One kind of engine. */
export interface EngineRow {
  readonly kind: string;
  /** Where it runs, in a few words. */
  readonly summary: string;
  /** What it needs, and how to install that. */
  readonly requires: string;
  /** The options of open() that apply to this engine. */
  readonly options: readonly (keyof OpenOptions)[];
  /** Whether it distinguishes the schedules of sparse solves. On one thread all of them run serially. */
  readonly hasSchedules: boolean;
  /** Whether it can be opened on this machine. */
  probe(): Promise<Probe>;
  open(options: OpenOptions): Promise<Backend>;
  /** All configurations on this machine that are worth comparing; `pools` are the numbers of threads to try. */
  configurations(pools: readonly number[]): Promise<readonly Configuration[]>;
}

// Loaded on first use: most programs do not use a GPU.
const opencl = () => import("./opencl/index.ts");
const webgpu = () => import("./webgpu/index.ts");

export const ENGINES = [
  {
    kind: "wasm",
    summary: "this thread",
    requires: "WebAssembly with SIMD",
    options: [],
    hasSchedules: false,
    probe: async () => probeWasm(),
    open: async () => openWasm(),
    configurations: async () => [{ name: "wasm", options: {} }],
  },
  {
    kind: "threads",
    summary: "a pool of workers",
    requires: "WebAssembly with SIMD, workers, and in browsers a cross-origin isolated page",
    options: ["threads"],
    hasSchedules: true,
    probe: probeThreads,
    open: ({ threads }) => openThreads(threads),
    configurations: async (pools) => pools.map((threads) => ({ name: `threads, ${threads}`, options: { threads } })),
  },
  {
    kind: "opencl",
    summary: "a device that OpenCL finds",
    requires: "koffi (npm install koffi) and an OpenCL driver (for a CPU on Debian: apt-get install pocl-opencl-icd)",
    options: ["device"],
    hasSchedules: true,
    probe: async () => (await opencl()).probe(),
    open: async ({ device }) => (await opencl()).openclBackend(device),
    configurations: async () => (await opencl()).configurations(),
  },
  {
    kind: "webgpu",
    summary: "a GPU that the browser or Dawn offers",
    requires: "a browser with WebGPU, or in Node the package webgpu (npm install webgpu) and on Linux Vulkan (apt-get install libvulkan1)",
    options: [],
    hasSchedules: false,
    probe: async () => (await webgpu()).probe(),
    open: async () => (await webgpu()).webgpuBackend(),
    configurations: async () => (await webgpu()).configurations(),
  },
] as const satisfies readonly EngineRow[];

/** The name of an engine in the table. */
export type Kind = (typeof ENGINES)[number]["kind"];
export const KINDS: readonly Kind[] = ENGINES.map(({ kind }) => kind);

/** The numbers of threads that doctor tries. */
export const usualPools = (): readonly number[] => [...new Set([1, cores()])];

/** The row of an engine. */
export function engineRow(kind: Kind): EngineRow {
  const row: EngineRow | undefined = ENGINES.find((each) => each.kind === kind);
  if (!row) throw new EngineError(`open: there is no engine "${kind}"`);
  return row;
}
