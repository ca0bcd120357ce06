// Substitution with all sums by one of the papers' exact stages (expansion.cl, with OP = DOT), launched by trsv.ts. A work-group takes a
// row by an atomic counter, and waits for unknowns of rows taken before. An unknown that is not yet known is a bit pattern that no
// result has. KIND: how an entry is computed from the exact sum, see certificate.cl.

__kernel void trsvBy(__global const REAL *T, long4 place, __global const REAL *b, __global REAL *x, volatile __global ulong *published,
    volatile __global int *state, int from, int to, int start, int step, int unit, int spins, __local long *pool) {
  __local int ticket;
  volatile __local int failed;
  int l = get_local_id(0), size = get_local_size(0);
  if (l == 0) {
    ticket = atomic_inc(state + TICKET);
    failed = state[FAILED] != 0 || state[SINGULAR] != 0;
  }
  for (int d = l; d < ACCUMULATOR * STRIDE; d += size) pool[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = from + ticket;
  __global const REAL *row = T + place.x + i * place.y;
  __local long *acc = pool + l % STRIDE;
  double a[COMPONENTS + 1];
#pragma unroll
  for (int k = 0; k < COMPONENTS; k++) a[k] = 0.0;
  for (int j = l; j < i; j += size) {
    ulong bits = published[j];
    for (int spin = 0; bits == UNKNOWN && !failed; spin++) {
      if (spin >= spins) failed = 1;
      bits = published[j];
    }
    if (bits == UNKNOWN) break;
    accumulate(a, acc, -(double)row[j * place.z], as_double(bits));
  }
#pragma unroll
  for (int k = 0; k < COMPONENTS; k++) spill(acc, a[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = l; d < ACCUMULATOR; d += size)
    for (int k = 1; k < STRIDE; k++) pool[d * STRIDE] += pool[d * STRIDE + k];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0 && failed) state[FAILED] = 1;
  if (l == 0 && !failed) {
    int at = start + i * step;
    addNumber(pool, b[at]);
    double v = exactEntry(pool, KIND, unit ? 1.0 : (double)row[i * place.z]);
    published[i] = bitsOf(v);
    put(x + at, v);
  }
}
