// Which entries of a row or column are not zero, one bit each. If a row and a column have no nonzero entry at the same place, all their
// products are zero and so is their sum, which no error bound proves: in bands, grids and sparse matrices that is the usual case. The test
// reads one bit where summing the products again reads 16 bytes. Called by lu.ts and gemm.ts.
import { one } from "../simd";

// The bytes for n bits: whole vectors, so that there is no remainder to handle.
@inline export function bitBytes(n: i32): usize { return <usize>((n + 127) >> 7) << 4; }

@inline export function setBit(bits: usize, k: i32): void {
  const p = bits + (<usize>(k >> 5) << 2);
  i32.store(p, i32.load(p) | 1 << (k & 31));
}

// Whether two vectors have a nonzero entry in common among the first n, rounded up to whole vectors of bits.
export function meet(a: usize, b: usize, n: i32): bool {
  for (const end = a + bitBytes(n); a != end; a += 16, b += 16) if (v128.any_true(v128.and(v128.load(a), v128.load(b)))) return true;
  return false;
}

// The bits of `count` vectors of n numbers, bitBytes(n) apart. The vectors are `stride` bytes apart, and their entries `step` bytes. The inner
// loop runs over contiguous memory.
export function markNonzeros<T>(p: usize, stride: usize, step: usize, count: i32, n: i32, to: usize): void {
  const size = bitBytes(n), along = step == sizeof<T>();
  memory.fill(to, 0, size * <usize>count);
  const outer = along ? count : n, inner = along ? n : count, outerStep = along ? stride : step, innerStep = along ? step : stride;
  for (let i = 0; i < outer; ++i, p += outerStep) {
    let q = p;
    for (let k = 0; k < inner; ++k, q += innerStep) if (one<T>(q) != 0) setBit(to + <usize>(along ? i : k) * size, along ? k : i);
  }
}
