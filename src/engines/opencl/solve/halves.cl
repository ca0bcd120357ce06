// C := C - A B in binary32 on tensor cores, launched by lu.ts instead of subtractProduct of gemm.cl, whose arguments it has. Each number is
// the sum of two of binary16: x = h + l, where h has the first 11 bits of x and l the next 11. Of the four products of h and l only that of
// both l is left out. After Ootomo and Yokota (2022).
//
// Entries of A are entries of L, at most 1, and multiplied by 2^12 first; entries of B, those of U and right-hand sides, by 2^4. So a product
// loses less than 2^-20 of itself, and 2^-26 if its factors are small: binary16 has no bits below 2^-24. Entries of B of 2^12 and more become
// infinities; approximate.ts then factors without this kernel.
#define SCALE_A 0x1p12f
#define SCALE_B 0x1p4f
#define BACK 0x1p-16f

#define TM 128
#define ITEMS 256

// x rounded to 11 bits, if it is finite.
float leading(float x) { return as_float((as_uint(x) + 0x1000u) & 0xffffe000u); }

#ifdef NVIDIA
// A work-group has a tile of TM by TN. KT columns of A and rows of B at a time are split and stored in local memory, and loaded while the
// previous ones are multiplied. A warp has WM by 32 entries. Rows in local memory are 16 bytes longer than their numbers, so that ldmatrix
// has no bank conflicts.
#define KT 32
#define WARPS_N (TN / 32)
#define WM (TM * WARPS_N / 8)
#define PITCH_A (2 * KT + 16) // in bytes
#define PITCH_B (2 * TN + 16)
#define BYTES_A (TM * PITCH_A) // of one half
#define BYTES_B (KT * PITCH_B)
#define QUADS_A (TM * KT / 4 / ITEMS)
#define QUADS_B (KT * TN / 4 / ITEMS)

// Two numbers in binary16, x in the lower half.
uint pairOf(float x, float y) {
  uint pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}

// Four numbers, at `to`, and what their first halves leave, `distance` bytes later.
void split(float4 v, __local char *to, int distance) {
  const float4 h = (float4)(leading(v.x), leading(v.y), leading(v.z), leading(v.w)), l = v - h;
  *(__local uint2 *)to = (uint2)(pairOf(h.x, h.y), pairOf(h.z, h.w));
  *(__local uint2 *)(to + distance) = (uint2)(pairOf(l.x, l.y), pairOf(l.z, l.w));
}

uint4 loadRows(uint at) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
  return v;
}

uint4 loadColumns(uint at) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
  return v;
}

void multiplyAdd(float4 *c, uint4 a, uint b0, uint b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"((*c).x), "+f"((*c).y), "+f"((*c).z), "+f"((*c).w)
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

__kernel void subtractHalves(__global float *W, int ld, int rows, int row, int column, int k0, int depth) {
  __local uint4 memory[2 * (BYTES_A + BYTES_B) / 16];
  __local char *a = (__local char *)memory, *b = a + 2 * BYTES_A;
  const int lid = get_local_id(0), lane = lid % 32, warp = lid / 32;
  const int row0 = row + (int)get_group_id(1) * TM, col0 = column + (int)get_group_id(0) * TN;
  const int wm = warp / WARPS_N * WM, wn = warp % WARPS_N * 32;
  // C is needed last, but it takes longest: fetch its lines of 128 bytes now.
  for (int e = lid; e < TM * TN / 32; e += ITEMS) {
    const int r = row0 + e / (TN / 32);
    if (r < rows) asm volatile("prefetch.global.L2 [%0];" ::"l"(W + (long)r * ld + col0 + e % (TN / 32) * 32));
  }
  float4 nextA[QUADS_A], nextB[QUADS_B], c[WM / 16][4];
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[i][j] = (float4)(0);
  for (int k = -KT; k < depth; k += KT) {
    if (k >= 0) {
      barrier(CLK_LOCAL_MEM_FENCE); // the previous tiles have been multiplied
#pragma unroll
      for (int e = 0; e < QUADS_A; e++) {
        const int at = lid + e * ITEMS;
        split(nextA[e] * SCALE_A, a + at / (KT / 4) * PITCH_A + at % (KT / 4) * 8, BYTES_A);
      }
#pragma unroll
      for (int e = 0; e < QUADS_B; e++) {
        const int at = lid + e * ITEMS;
        split(nextB[e] * SCALE_B, b + at / (TN / 4) * PITCH_B + at % (TN / 4) * 8, BYTES_B);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (k + KT < depth) {
      // Rows past the end are read as the last, and not stored.
#pragma unroll
      for (int e = 0; e < QUADS_A; e++) {
        const int at = lid + e * ITEMS, r = min(row0 + at / (KT / 4), rows - 1);
        nextA[e] = *(const __global float4 *)(W + (long)r * ld + k0 + k + KT + at % (KT / 4) * 4);
      }
#pragma unroll
      for (int e = 0; e < QUADS_B; e++) {
        const int at = lid + e * ITEMS;
        nextB[e] = *(const __global float4 *)(W + (long)(k0 + k + KT + at / (TN / 4)) * ld + col0 + at % (TN / 4) * 4);
      }
    }
    if (k < 0) continue;
    const uint fromA = (uint)(size_t)a + (wm + lane % 16) * PITCH_A + lane / 16 * 16, fromB = (uint)(size_t)b + lane % 16 * PITCH_B + 2 * wn + lane / 16 * 16;
#pragma unroll
    for (int kk = 0; kk < KT / 16; kk++) {
      uint4 high[2], low[2]; // of B: 16 columns each
#pragma unroll
      for (int j = 0; j < 2; j++) {
        high[j] = loadColumns(fromB + kk * 16 * PITCH_B + j * 32);
        low[j] = loadColumns(fromB + kk * 16 * PITCH_B + j * 32 + BYTES_B);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; i++) {
        const uint at = fromA + i * 16 * PITCH_A + kk * 32;
        const uint4 first = loadRows(at), second = loadRows(at + BYTES_A);
#pragma unroll
        for (int j = 0; j < 2; j++) {
          multiplyAdd(&c[i][2 * j], first, low[j].x, low[j].y);
          multiplyAdd(&c[i][2 * j + 1], first, low[j].z, low[j].w);
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
          multiplyAdd(&c[i][2 * j], second, high[j].x, high[j].y);
          multiplyAdd(&c[i][2 * j + 1], second, high[j].z, high[j].w);
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
          multiplyAdd(&c[i][2 * j], first, high[j].x, high[j].y);
          multiplyAdd(&c[i][2 * j + 1], first, high[j].z, high[j].w);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int r = row0 + wm + i * 16 + h * 8 + lane / 4;
      if (r < rows) {
        __global float *to = W + (long)r * ld + col0 + wn + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < 4; j++) {
          __global float2 *entries = (__global float2 *)(to + 8 * j);
          *entries -= BACK * (h == 0 ? c[i][j].xy : c[i][j].zw);
        }
      }
    }
}
#else
// Elsewhere one entry per work-item at a time: so that everything around it can be tested without tensor cores.
float half16(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half *)&bits);
  return vload_half(0, (half *)&bits);
}

__kernel void subtractHalves(__global float *W, int ld, int rows, int row, int column, int k0, int depth) {
  const int row0 = row + (int)get_group_id(1) * TM, col0 = column + (int)get_group_id(0) * TN;
  for (int e = get_local_id(0); e < TM * TN; e += ITEMS) {
    const int r = row0 + e / TN, c = col0 + e % TN;
    if (r >= rows) break;
    float sum = 0;
    for (int k = k0; k < k0 + depth; k++) {
      const float a = SCALE_A * W[(long)r * ld + k], b = SCALE_B * W[(long)k * ld + c];
      const float ha = half16(leading(a)), hb = half16(leading(b)), la = half16(a - leading(a)), lb = half16(b - leading(b));
      sum += ha * lb + la * hb;
      sum += ha * hb;
    }
    W[(long)r * ld + c] -= BACK * sum;
  }
}
#endif
