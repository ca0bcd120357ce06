// Products of 8-bit integers modulo each m: T_ij := the sum of A_ik B_jk mod m, a byte. Both factors are stored in blocks of BK terms, a line
// every `pitch` bytes and a block every `block` bytes; K is a multiple of BK. The first lines of the factors are aStart and bStart. Launched by residues.ts: a work-group per tile of BM by BN entries and modulus. |sums| <= 2^14 K <= 2^30.

// x modulo m, from 0 to m - 1, for |x| <= 2^30: floor(u floor(2^32 / m) / 2^32) is at most one below floor(u / m), for u < 2^32.
uint reduced(int x, __constant const int *record) {
  uint m = record[0], u = (uint)(x + record[OFFSET]);
  uint r = u - mul_hi(u, (uint)record[RECIPROCAL]) * m;
  return r >= m ? r - m : r;
}

#ifdef BM
#ifdef NVIDIA
// On the tensor cores. Tiles of both factors pass through STAGES buffers in local memory, filled by asynchronous copies of 16 bytes; a
// warp has WM by WN entries. Within a row the 16-byte pieces are exchanged by XOR with the row number, so that neither the copies nor
// ldmatrix have bank conflicts.
#define WARPS ((BM / WM) * (BN / WN))
#define THREADS (32 * WARPS)
#define ROW (BK / 16)
#define PLACE(r, o) ((r) * BK + (((o) ^ (BK == 64 ? ((r) >> 1) & 3 : (r) & 7)) << 4))

void multiply(int4 *c, uint4 a, uint b0, uint b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"((*c).x), "+r"((*c).y), "+r"((*c).z), "+r"((*c).w)
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

uint4 loadMatrix(uint at) {
  uint4 v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
  return v;
}

void copyAhead(uint to, __global const char *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); }

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void int8Product(
    __global const char *A, int aStart, int aPitch, long aBlock, long aBatch, __global const char *B, int bStart, int bPitch, long bBlock,
    long bBatch, __global uchar *T, int pitch, long batch, int tilesM, int tilesN, int K, __constant const int *table) {
  __local uint4 memory[STAGES * (BM + BN) * BK / 16];
  const uint base = (uint)(size_t)memory;
  const int t = get_local_id(0), warp = t / 32, lane = t % 32;
  // Tiles in strips of STRIP rows of tiles, so that those that run together share lines of both factors.
  const int id = get_group_id(0), modulus = get_group_id(1), strip = id / (STRIP * tilesN), within = id % (STRIP * tilesN);
  const int rows = min(STRIP, tilesM - strip * STRIP);
  const long bm = (long)(strip * STRIP + within % rows) * BM, bn = (long)(within / rows) * BN;
  const int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
  A += modulus * aBatch + (aStart + bm) * aPitch;
  B += modulus * bBatch + (bStart + bn) * bPitch;
  int4 c[WM / 16][WN / 8];
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < WN / 8; j++) c[i][j] = (int4)(0);
#define FETCH(from, pitch, block, lines, k0, to)                                                                  \
  _Pragma("unroll") for (int u = 0; u < (lines)*ROW / THREADS; u++) {                                      \
    int e = t + u * THREADS, r = e / ROW, o = e % ROW;                                                     \
    copyAhead((to) + PLACE(r, o), (from) + (long)r * (pitch) + (k0) / BK * (block) + o * 16);                             \
  }
#define FETCH_STAGE(k0, s)                                  \
  {                                                         \
    uint to = base + (s) * (BM + BN) * BK;                  \
    FETCH(A, aPitch, aBlock, BM, k0, to)                            \
    FETCH(B, bPitch, bBlock, BN, k0, to + BM * BK)                  \
  }
#define END_STAGE asm volatile("cp.async.commit_group;")
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    if (s * BK < K) FETCH_STAGE(s * BK, s)
    END_STAGE;
  }
  for (int k = 0, s = 0; k < K; k += BK, s = s + 1 == STAGES ? 0 : s + 1) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    barrier(CLK_LOCAL_MEM_FENCE);
    const int ahead = k + (STAGES - 1) * BK, next = s == 0 ? STAGES - 1 : s - 1;
    if (ahead < K) FETCH_STAGE(ahead, next)
    END_STAGE;
    const uint a0 = base + s * (BM + BN) * BK, b0 = a0 + BM * BK;
#pragma unroll
    for (int kk = 0; kk < BK / 32; kk++) {
      uint4 a[WM / 16];
#pragma unroll
      for (int i = 0; i < WM / 16; i++) a[i] = loadMatrix(a0 + PLACE(wm + i * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < WN / 8; j += 2) {
        uint4 b = loadMatrix(b0 + PLACE(wn + j * 8 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < WM / 16; i++) {
          multiply(&c[i][j], a[i], b.x, b.y);
          multiply(&c[i][j + 1], a[i], b.z, b.w);
        }
      }
    }
  }
  __constant const int *record = table + modulus * RECORD;
  T += modulus * batch;
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < WN / 8; j++) {
      __global uchar *to = T + (bm + wm + i * 16 + lane / 4) * pitch + bn + wn + j * 8 + lane % 4 * 2;
      *(__global ushort *)to = reduced(c[i][j].x, record) | reduced(c[i][j].y, record) << 8;
      *(__global ushort *)(to + 8L * pitch) = reduced(c[i][j].z, record) | reduced(c[i][j].w, record) << 8;
    }
}
#else
// Elsewhere one entry per work-item: so that everything around it can be tested without tensor cores.
__kernel void int8Product(__global const char *A, int aStart, int aPitch, long aBlock, long aBatch, __global const char *B, int bStart, int bPitch,
                          long bBlock, long bBatch, __global uchar *T, int pitch, long batch, int tilesM, int tilesN, int K, __constant const int *table) {
  const int j = get_global_id(0) % (tilesN * BN), i = get_global_id(0) / (tilesN * BN), modulus = get_global_id(1);
  if (i >= tilesM * BM) return;
  A += modulus * aBatch + (long)(aStart + i) * aPitch;
  B += modulus * bBatch + (long)(bStart + j) * bPitch;
  int sum = 0;
  for (int k = 0; k < K; k++) sum += A[k / BK * aBlock + k % BK] * B[k / BK * bBlock + k % BK];
  T[modulus * batch + (long)i * pitch + j] = reduced(sum, table + modulus * RECORD);
}
#endif
#endif
