// CUDA through koffi, for gpu.mjs: memory on the device, and the routines of cuBLAS, cuSOLVER and cuSPARSE that ours are compared with.
// Each of the four is { missing } with the reason where it is not available.
import { cublas } from "./blas.mjs";
import { bindAll, loadCuda, output } from "./libraries.mjs";
import { cusolver } from "./solver.mjs";
import { cusparse } from "./sparse.mjs";

const TO_DEVICE = 1;
const TO_HOST = 2;
const ON_DEVICE = 3;

/** { runtime, blas, solver, sparse } */
export async function openCuda() {
  let koffi;
  const part = (name, open) => {
    try {
      const { library, path } = loadCuda(koffi, name);
      return { path, ...open(library) };
    } catch (error) {
      return { missing: `${name} is not measured: ${error.message.split("\n")[0]}` };
    }
  };
  try {
    koffi = (await import("koffi")).default;
  } catch {
    const missing = { missing: "CUDA is not measured: no koffi (npm install koffi)" };
    return { runtime: missing, blas: missing, solver: missing, sparse: missing };
  }
  const runtime = part("cudart", openRuntime);
  const withRuntime = (name, open) => (runtime.missing ? { missing: runtime.missing } : part(name, (library) => open(library, runtime)));
  return {
    runtime,
    blas: withRuntime("cublas", cublas),
    solver: withRuntime("cusolver", cusolver),
    sparse: withRuntime("cusparse", cusparse),
  };
}

function openRuntime(library) {
  const cuda = bindAll(library, {
    cudaRuntimeGetVersion: "void *",
    cudaDriverGetVersion: "void *",
    cudaGetDeviceCount: "void *",
    cudaMalloc: "void *, size_t",
    cudaFree: "void *",
    cudaMemcpy: "void *, void *, size_t, int",
    cudaMemset: "void *, int, size_t",
    cudaDeviceSynchronize: "",
  });
  const count = output((to) => cuda.cudaGetDeviceCount(to), Int32Array);
  if (count === 0) throw new Error("no CUDA device");
  const version = (number) => `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
  const allocate = (bytes) => output((to) => cuda.cudaMalloc(to, Math.max(bytes, 16)));
  return {
    version: version(output((to) => cuda.cudaRuntimeGetVersion(to), Int32Array)),
    driver: version(output((to) => cuda.cudaDriverGetVersion(to), Int32Array)),
    allocate,
    upload(array) {
      const memory = allocate(array.byteLength);
      cuda.cudaMemcpy(memory, array, array.byteLength, TO_DEVICE);
      return memory;
    },
    write: (memory, array) => cuda.cudaMemcpy(memory, array, array.byteLength, TO_DEVICE),
    read(memory, array) {
      cuda.cudaMemcpy(array, memory, array.byteLength, TO_HOST);
      return array;
    },
    copy: (to, from, bytes) => cuda.cudaMemcpy(to, from, bytes, ON_DEVICE),
    clear: (memory, bytes) => cuda.cudaMemset(memory, 0, bytes),
    free(...memories) {
      for (const memory of memories) cuda.cudaFree(memory);
    },
    finish: () => cuda.cudaDeviceSynchronize(),
  };
}
