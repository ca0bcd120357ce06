// r := RN(b - T x), for unknowns that are published; launched by trsv.ts to refine a solution.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void trsvResidual(__global const REAL *T, long4 place, __global const REAL *b,
    __global REAL *r, volatile __global ulong *published, int from, int to, int start, int step, int unit, int spins,
    __local long *acc) {
  LOCALS;
  int begin = from + get_group_id(0) * BLOCK, rows = min(BLOCK, to - begin);
  if (l == 0) failed = 0;
  loadDiagonal(D, A, begin, rows, unit);
  if (l < BLOCK) c[l] = l < rows ? as_double(published[begin + l]) : 0.0;
  barrier(CLK_LOCAL_MEM_FENCE);
  Filter f = blockShare(D, c, row, slot, 1);
  subtractBefore(&f, part, known, A, way, begin, rows);
  storeShare(part, f);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < rows) {
    f = merged(part, l);
    addTerm(&f, b[ELEMENT(begin + l)]);
    double v = certified(f.sum, f.rest, boundOf(f, ADDITIONS(begin), true));
    slots[l] = v;
    if (v == v) put(r + ELEMENT(begin + l), v);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < rows; i++) {
    bool open = slots[i] != slots[i];
    depositRow(open, acc, A, way, D + AT(i, 0), c, i + 1, begin + i, begin);
    if (open && l == 0) put(r + ELEMENT(begin + i), entryOfSum(acc, b[ELEMENT(begin + i)], ROUND, 1.0));
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
