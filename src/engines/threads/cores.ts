// The number of cores, in Node and in browsers. The table of engines, the pool and the OpenCL engine use it.

/** The number of threads that this machine can run at once. */
export function cores(): number {
  return (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency ?? nodeCores() ?? 1;
}

// Node 20 has no navigator.
function nodeCores(): number | undefined {
  type Builtin = { getBuiltinModule?(name: string): { availableParallelism?(): number } | undefined };
  return (globalThis as { process?: Builtin }).process?.getBuiltinModule?.("node:os")?.availableParallelism?.();
}
