// P columns of L and U with partial pivoting, in one launch. A work-item has a row in registers, and rows do not move until the
// end: each knows the position that the pivots give it. After every column a row is turned by one place, the entry of L that was
// made coming last, so that the column at hand is always element 0 and the loop is not unrolled; after P columns all is in place.
//
// Groups exchange one message a column: each its best row. Every 32 bits of it go with a tag, which says the column and the row's
// position, in one word of 64 bits: such a word is written and read whole, so nothing needs to be ordered. Two slots a group take
// turns: who writes the one of column p + 2 has read all of p + 1, whose writers had read all of p. Groups wait for each other, so
// all must run at the same time; one that waits in vain says so, and everything after it is left undone.
//
// The best of a group is found by teams: the warps of a group, each for itself and with no barrier, or all of it.
#define EPOCHS 4095
#define EPOCH_BITS 12
#define EPOCH_MASK ((1 << EPOCH_BITS) - 1)
#define NO_PLACE 0xfffff
#define NOBODY 0x7fffffff
#define VAIN (-1)

typedef struct {
  Magnitude size;
  int position;
} Best;

bool isBetter(Magnitude size, int position, Magnitude otherSize, int otherPosition) {
  return size > otherSize || (size == otherSize && position < otherPosition);
}

#ifdef NVIDIA
#define TEAM 32
#define TOGETHER asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define SAID
#define LISTED (GROUP / TEAM)
uint most(uint x) {
  uint y;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
uint least(uint x) {
  uint y;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
#if WORDS == 1
Magnitude mostMagnitude(Magnitude x) { return most(x); }
#else
Magnitude mostMagnitude(Magnitude x) {
  uint high = most((uint)(x >> 32)), low = most((uint)(x >> 32) == high ? (uint)x : 0u);
  return ((ulong)high << 32) | low;
}
#endif
// Of a warp the best, for every work-item of it.
Best bestOfTeam(Best mine, __local Magnitude *sizes, __local int *positions) {
  Best best;
  best.size = mostMagnitude(mine.size);
  best.position = (int)least(mine.size == best.size ? (uint)mine.position : (uint)NOBODY);
  return best;
}
#else
#define TEAM GROUP
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#define SAID TOGETHER; // PoCL has work-items wait one after another: who speaks must have spoken
#define LISTED GROUP
Best bestOfTeam(Best mine, __local Magnitude *sizes, __local int *positions) {
  const int lid = get_local_id(0);
  sizes[lid] = mine.size;
  positions[lid] = mine.position;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = GROUP / 2; stride > 0; stride /= 2) {
    if (lid < stride && isBetter(sizes[lid + stride], positions[lid + stride], sizes[lid], positions[lid])) {
      sizes[lid] = sizes[lid + stride];
      positions[lid] = positions[lid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  mine.size = sizes[0];
  mine.position = positions[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}
#endif

// Of the bests of teams, which are as many as a team has work-items at most, that of the group. Before and after it there is a barrier.
Best bestOfGroup(Best team, __local Magnitude *sizes, __local int *positions) {
#ifdef NVIDIA
  const int lane = get_local_id(0) % TEAM;
  Best other = {0, NOBODY};
  if (lane < GROUP / TEAM) other.size = sizes[lane], other.position = positions[lane];
  return bestOfTeam(other, sizes, positions);
#else
  return team;
#endif
}

#if defined(NVIDIA) && WORDS == 1
// Division is a long routine there, and everybody waits for it; this is as good but at the ends of the range.
REAL quotient(REAL a, REAL b) {
  if (!(fabs(b) > 0x1p-100f && fabs(b) < 0x1p100f)) return a / b;
  const REAL r = native_recip(b), q = a * r;
  return fma(fma(-q, b, a), r, q);
}
#else
REAL quotient(REAL a, REAL b) { return a / b; }
#endif

#define LENGTH (P * WORDS) // of a message
#define BATCH 4            // loads on the way

__kernel FIXED(GROUP) void plainPanel(__global REAL *W, int ld, int rows, int first, __global int *state, int moves, int pivots,
                                      __global REAL *diagonal, volatile __global ulong *slots, int spins) {
  __local Magnitude sizes[LISTED];
  __local int positions[LISTED], places[MAX_GROUPS];
  __local REAL4 lines[MAX_GROUPS][P / 4]; // rows from element 1 on, and then element 0
  __local int over;                        // 1 + the column that ends it all, or VAIN
  const int lid = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0), lane = lid % TEAM;
  const int row = first + group * GROUP + lid;
  volatile __global int *watched = state;
  if (lid == 0) over = watched[STUCK] != 0 ? VAIN : state[ENDED];
  REAL a[P];
UNROLL
  for (int c = 0; c < P / 4; c++) {
    REAL4 v = row < rows ? ((const __global REAL4 *)(W + (long)row * ld + first))[c] : (REAL4)(0);
    a[4 * c] = v.x, a[4 * c + 1] = v.y, a[4 * c + 2] = v.z, a[4 * c + 3] = v.w;
  }
  int position = row, looks = 0;
  bool candidate = row < rows;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int before = over;
  Best mine = {candidate ? magnitudeOf(a[0]) : 0, candidate ? position : NOBODY};
  Best team = bestOfTeam(mine, sizes, positions);

  for (int p = 0; p < P && before == 0; p++) {
    if (TEAM < GROUP && lane == 0) sizes[lid / TEAM] = team.size, positions[lid / TEAM] = team.position;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (over != 0) break; // written before the barrier: the same for all, or there is nothing to be lost any more
    Best best = bestOfGroup(team, sizes, positions);
    const bool isBest = candidate && position == best.position;
    __local REAL4 *own = lines[group];
    if (isBest) {
UNROLL
      for (int c = 0; c < P / 4; c++) {
        const int left = P - p - 4 * c; // the others are entries of L
        own[c] = (REAL4)(left > 1 ? a[4 * c + 1] : (REAL)0, left > 2 ? a[4 * c + 2] : (REAL)0, left > 3 ? a[4 * c + 3] : (REAL)0,
                         4 * c + 4 == P ? a[0] : left > 4 ? a[(4 * c + 4) % P] : (REAL)0);
      }
    }
    if (lid == 0) places[group] = best.position;
    if (groups > 1) {
      const uint epoch = (uint)(first + p) % EPOCHS + 1;
      volatile __global ulong *slot = slots + (size_t)((p & 1) * groups) * LENGTH;
      __local uint *heard = (__local uint *)lines;
      // A work-item alone would be long about it: stores that others are to see at once take 13 ns each.
      if (team.position == best.position) {
        TOGETHER;
        const uint place = best.position == NOBODY ? NO_PLACE : best.position - first;
        for (int e = lane; e < LENGTH; e += TEAM) slot[group * LENGTH + e] = (ulong)(place << EPOCH_BITS | epoch) << 32 | heard[group * LENGTH + e];
      }
      SAID
      const int total = groups * LENGTH;
      for (int e0 = lid; e0 < total; e0 += BATCH * GROUP) {
        ulong words[BATCH];
        bool missing = true;
        while (missing) {
          missing = false;
UNROLL
          for (int q = 0; q < BATCH; q++) words[q] = e0 + q * GROUP < total ? slot[e0 + q * GROUP] : (ulong)epoch << 32;
UNROLL
          for (int q = 0; q < BATCH; q++) missing |= (((uint)(words[q] >> 32) ^ epoch) & EPOCH_MASK) != 0;
          if (missing && (++looks > spins || ((looks & 1023) == 0 && watched[STUCK] != 0))) {
            over = VAIN;
            missing = false;
          }
        }
UNROLL
        for (int q = 0; q < BATCH; q++) {
          const int e = e0 + q * GROUP, g = e / LENGTH;
          const uint place = (uint)(words[q] >> (32 + EPOCH_BITS));
          if (e >= total || g == group) continue;
          heard[e] = (uint)words[q];
          if (e % LENGTH == 0) places[g] = place == NO_PLACE ? NOBODY : first + (int)place;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const __local REAL4 *u = own;
    if (groups > 1) {
      Best heard = {0, NOBODY};
      int from = 0;
      for (int g = lane; g < groups; g += TEAM) {
        const Magnitude size = magnitudeOf(((const __local REAL *)lines[g])[P - 1]);
        if (places[g] != NOBODY && isBetter(size, places[g], heard.size, heard.position)) heard.size = size, heard.position = places[g], from = g;
      }
      const int owner = heard.position;
      best = bestOfTeam(heard, sizes, positions);
#ifdef NVIDIA
      from = (int)least(owner == best.position ? (uint)from : ~0u);
#else
      for (from = 0; from < groups - 1 && places[from] != best.position;) from++;
#endif
      u = lines[min((uint)from, (uint)groups - 1)]; // after waiting in vain there may be nobody
    }
    const REAL top = ((const __local REAL *)u)[P - 1];
    const Magnitude size = magnitudeOf(top);
    if (candidate && position == best.position) {
      candidate = false;
      position = first + p;
    } else if (position == first + p) {
      position = best.position;
    }
    const REAL l = candidate ? quotient(a[0], top) : (REAL)0;
    const REAL last = candidate ? l : a[0];
    // the next column first: who is best in it can be found while the rest is computed
    a[0] = fma(-l, u[0].x, a[1]);
    mine.size = candidate ? magnitudeOf(a[0]) : 0;
    mine.position = candidate ? position : NOBODY;
    team = bestOfTeam(mine, sizes, positions);
UNROLL
    for (int c = 0; c < P / 4; c++) {
      const REAL4 v = u[c];
      if (c > 0) a[4 * c] = fma(-l, v.x, a[4 * c + 1]);
      a[4 * c + 1] = fma(-l, v.y, a[4 * c + 2]);
      a[4 * c + 2] = fma(-l, v.z, a[4 * c + 3]);
      if (4 * c + 4 < P) a[4 * c + 3] = fma(-l, v.w, a[(4 * c + 4) % P]);
    }
    a[P - 1] = last;
    if (lid == 0 && over == 0 && (size == 0 || size >= INFINITE)) over = first + p + 1;
    if (lid == 0 && group == 0) {
      state[pivots + first + p] = best.position;
      diagonal[first + p] = top;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (before == 0 && over == VAIN && lid == 0) watched[STUCK] = 1;
  if (before == 0 && over > 0 && lid == 0 && group == 0) state[ENDED] = over;
  if (over == 0 && row < rows) {
    noteMoves(state + moves, first, P, row, position);
UNROLL
    for (int c = 0; c < P / 4; c++)
      ((__global REAL4 *)(W + (long)position * ld + first))[c] = (REAL4)(a[4 * c], a[4 * c + 1], a[4 * c + 2], a[4 * c + 3]);
  }
}
