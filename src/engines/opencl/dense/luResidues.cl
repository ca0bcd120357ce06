// The sums of luProduct.cl by residues; see residues.cl for the integers and their bound, and luBlocked.cl for the blocks. Launched by
// luResidues.ts: the residues of L and U are kept, and each block multiplies those before it.

// Rows of residues move to where the pivots put them, and so do their cuts; see luSwap. A work-group takes STRIP words of each row.
__kernel __attribute__((reqd_work_group_size(8 * STRIP, 1, 1))) void luSwapResidues(__global uint *L, int pitch, long block, long batch, __global uint *cuts,
                                                                                   const __global int *out, Shape z) {
  __local uint kept[2 * W][STRIP], keptCuts[2 * W];
  const int lane = get_local_id(0) % STRIP, slot = get_local_id(0) / STRIP, moves = hasEnded(out, z) ? 0 : out[MOVES];
  const int word = get_group_id(0) * STRIP + lane;
  const bool inside = word < z.first / 4, first = get_group_id(0) == 0 && get_group_id(1) == 0 && lane == 0;
  const __global int *moved = out + MOVED(z);
  L += get_group_id(1) * batch + word / pitch * block + word % pitch;
  for (int m = slot; m < moves; m += 8) {
    if (inside) kept[m][lane] = L[(size_t)moved[2 * m] * pitch];
    if (first) keptCuts[m] = cuts[moved[2 * m]];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int m = slot; m < moves; m += 8) {
    if (inside) L[(size_t)moved[2 * m + 1] * pitch] = kept[m][lane];
    if (first) cuts[moved[2 * m + 1]] = keptCuts[m];
  }
}

// Sums over k < first from their remainders, as luProduct stores them: for the rows from `first` in the columns of the block (PANEL), or
// for the rows of the block in columns to its right. `lines` rows or columns, against the W of the block.
//   |l'| <= 2^(bL - 1), since |l| <= 1 < 2 = 2^eL; |u' + f| < 2^(bU + growth), where 2^growth bounds the column's U relative to the 2^eU of
//   its A. So the sum is off by 2^(bL - 2) for each cut entry of the column and by 2^(bU + growth - 1) for each of the row, and its magnitude
//   is at most 2^(bL - 1) times the sum of all |u'|, which must stay below 2^limit; and |u'| itself below 2^MAX_BITS. What does not is left open.
__kernel void luCombine(const __global uint *sums, long batch, __constant const int *table, int count, int lines, const __global uint *rowCuts,
                        const __global uint *colCuts, const __global uint *colSizes, const __global uint *colTops, int rowBits, int colBits,
                        int limit, const __global double *work, __global double *T, Shape z) {
  const int line = get_group_id(0) * 32 + get_local_id(0) % 32, quarter = get_local_id(0) / 32 + get_group_id(1) * 8;
  if (line >= lines) return;
  Remainders r[4];
#pragma unroll
  for (int q = 0; q < 4; q++) r[q] = noRemainders();
  sums += (size_t)line * (W / 4) + quarter;
  for (int c = 0; c < count; c++) addRemainders(r, sums[c * batch], table + c * RECORD);
  const size_t area = (size_t)W * lines;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int other = 4 * quarter + q;
    const int i = z.first + (PANEL ? line : other), j = PANEL ? z.first + other : z.right + line;
    if (other >= z.width) break;
    const int eU = (int)(colSizes[2 * j] >> 20) - 1022, growth = (int)(colTops[j] >> 20) - (int)(colSizes[2 * j] >> 20);
    double low = 0, bound = 0, high = NOT_PROVED;
    if (abs(eU) < 900 && colBits + growth <= MAX_BITS && work[SIZES(z) + j] * MORE < powerOfTwo(limit - colBits + eU)) {
      double halves = rowCuts[i] * powerOfTwo(colBits + growth - 1) + colCuts[j] * powerOfTwo(rowBits - 2);
      high = scaledSum(r[q], table + count * RECORD, 1 + eU - rowBits - colBits, halves, &low, &bound);
    }
    const size_t at = (size_t)other * lines + line;
    T[at] = high == high ? -high : 0.0;
    T[area + at] = low;
    T[2 * area + at] = high == high ? bound : NOT_PROVED;
  }
}
