// The plain WebAssembly kernels beside this file (level1.ts, dense.ts, sparse.ts, peak.ts), compiled here and running in a memory of their own.
// The exact kernels are measured against them.
import { main } from "assemblyscript/asc";
import { ROOT } from "../../harness/provenance.mjs";

const FOLDER = "bench/peers/wasm";
const PAGE = 65536;
const ALIGNMENT = 64; // as allocate() has it

const WORK = 2 ** 21; // bytes of working memory: gemm packs 256 (n + 64) entries, lu 96 n

/** A memory with room for `bytes` bytes of arrays. */
export function plainMemory(bytes) {
  const pages = Math.ceil((WORK + bytes) / PAGE) + 2; // the first is the compiler's, part of the last goes to alignment
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  return {
    memory,
    /** Copies of these arrays in this memory, under the same names. They overwrite those placed before. */
    place(arrays) {
      let address = PAGE + WORK;
      const copies = Object.entries(arrays).map(([name, values]) => {
        const copy = new values.constructor(memory.buffer, address, values.length);
        copy.set(values);
        address += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
        return [name, copy];
      });
      return Object.fromEntries(copies);
    },
  };
}

/** The plain SIMD loops of level 1. */
export async function plainLoops({ memory }) {
  const { sum, asum, dot } = await instantiate("level1", "simd", memory);
  return {
    sum: (x) => sum(x.byteOffset, x.length),
    asum: (x) => asum(x.byteOffset, x.length),
    dot: (x, y) => dot(x.byteOffset, y.byteOffset, x.length),
    nrm2: (x) => Math.sqrt(dot(x.byteOffset, x.byteOffset, x.length)),
  };
}

/**
 * The plain dense kernels with the instructions of this engine: with relaxed SIMD or without. Matrices are square, of order n,
 * stored by rows; orders are multiples of 4.
 */
export async function plainDense({ memory }, engine) {
  const features = engine === "wasm-fma" ? "simd,relaxed-simd" : "simd";
  const { gemv, gemvTransposed, trsv, gemm, lu, tile } = await instantiate("dense", features, memory);
  return {
    engine,
    /** y := A x or A' x */
    gemv(n, A, x, y, { trans = false } = {}) {
      (trans ? gemvTransposed : gemv)(A.byteOffset, x.byteOffset, y.byteOffset, n);
      return y;
    },
    /** x := the solution of T x = b, T lower triangular */
    trsv(n, T, b, x) {
      trsv(T.byteOffset, b.byteOffset, x.byteOffset, n);
      return x;
    },
    /** C := A B */
    gemm(n, A, B, C) {
      if (256 * (n + 64) * 8 > WORK) throw new Error(`plain gemm: n is ${n}, expected less for its working memory`);
      gemm(A.byteOffset, B.byteOffset, C.byteOffset, n, PAGE);
      return C;
    },
    /** P A = L U in place */
    lu(n, A, pivots) {
      if (96 * n * 8 > WORK) throw new Error(`plain lu: n is ${n}, expected less for its working memory`);
      const info = lu(A.byteOffset, n, pivots.byteOffset, PAGE);
      if (info !== 0) throw new Error(`plain lu: the pivot of column ${info - 1} is 0`);
    },
    /** One tile of gemm, k deep: 32 k operations in registers. */
    tile(k, a, b, c) {
      tile(a.byteOffset, b.byteOffset, k, c.byteOffset, 4);
    },
  };
}

/** The plain loops of a sparse product, with a matrix stored by rows, and of conjugate gradients. */
export async function plainSparse({ memory }) {
  const { spmv, axpy, xpay, multiply } = await instantiate("sparse", "simd", memory);
  return {
    /** y := A x */
    spmv({ pointers, indices, values }, x, y) {
      spmv(y.length, pointers.byteOffset, indices.byteOffset, values.byteOffset, x.byteOffset, y.byteOffset);
      return y;
    },
    /** y := alpha x + y */
    axpy: (alpha, x, y) => axpy(y.length, alpha, x.byteOffset, y.byteOffset),
    /** y := x + beta y */
    xpay: (x, beta, y) => xpay(y.length, x.byteOffset, beta, y.byteOffset),
    /** z := x y, entry by entry */
    multiply: (x, y, z) => multiply(z.length, x.byteOffset, y.byteOffset, z.byteOffset),
  };
}

/** Multiply-adds alone, on this engine, for each format: operations per step, and how to run a number of steps. */
export async function plainPeaks({ memory }, engine) {
  const features = engine === "wasm-fma" ? "simd,relaxed-simd" : "simd";
  const { peak32, peak64 } = await instantiate("peak", features, memory);
  return {
    binary32: { operations: 96, run: (steps) => peak32(steps, 1e-9, PAGE) },
    binary64: { operations: 48, run: (steps) => peak64(steps, 1e-9, PAGE) },
  };
}

async function instantiate(name, features, memory) {
  let binary;
  const flags = ["--baseDir", ROOT, "-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", features];
  const { error, stderr } = await main([`${FOLDER}/${name}.ts`, ...flags, "--outFile", "plain.wasm"], {
    writeFile: (_name, contents) => {
      binary = contents;
    },
  });
  if (error) throw new Error(`AssemblyScript: ${error.message}\n${stderr}`);
  const { instance } = await WebAssembly.instantiate(binary, { env: { memory } });
  return instance.exports;
}
