// Factors a panel of P columns with partial pivoting in one launch, by all work-groups; launched by lu.ts. A work-item has a row in
// registers. Rows do not move until the end: each has the position that the pivots give it. After each column a row is rotated by one
// element, the new entry of L becoming the last, so that the current column is always element 0 and the loop need not be unrolled;
// after P columns every element is in place.
//
// Work-groups exchange one message per column: each sends its best row. Every 32 bits of it travel with a tag, the column and the
// position of the row, in one word of 64 bits: such a word is written and read whole, so no memory order is needed. Each group has
// two message slots, used alternately: a group that writes the slot of column p + 2 has read all messages of p + 1, whose senders
// had read all of p. Groups wait for each other, so all must run at the same time; one whose wait times out sets STUCK, and
// everything after it is skipped.
//
// Teams find the best row of a group: its warps, each without a barrier, or the whole group.
#define EPOCHS 4095
#define EPOCH_BITS 12
#define EPOCH_MASK ((1 << EPOCH_BITS) - 1)
#define NO_ROW 0xfffff
#define NO_POSITION 0x7fffffff
#define TIMED_OUT (-1)

typedef struct {
  Magnitude size;
  int position;
} Best;

bool isBetter(Magnitude size, int position, Magnitude otherSize, int otherPosition) {
  return size > otherSize || (size == otherSize && position < otherPosition);
}

#ifdef NVIDIA
#define TEAM 32
#define SYNCHRONIZE_TEAM asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define MESSAGE_WRITTEN
#define CANDIDATES (GROUP / TEAM)
uint maxOfWarp(uint x) {
  uint y;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
uint minOfWarp(uint x) {
  uint y;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
#if WORDS == 1
Magnitude maxMagnitudeOfWarp(Magnitude x) { return maxOfWarp(x); }
#else
Magnitude maxMagnitudeOfWarp(Magnitude x) {
  uint high = maxOfWarp((uint)(x >> 32)), low = maxOfWarp((uint)(x >> 32) == high ? (uint)x : 0u);
  return ((ulong)high << 32) | low;
}
#endif
// The best candidate of a warp, for each of its work-items.
Best bestOfTeam(Best mine, __local Magnitude *sizes, __local int *positions) {
  Best best;
  best.size = maxMagnitudeOfWarp(mine.size);
  best.position = (int)minOfWarp(mine.size == best.size ? (uint)mine.position : (uint)NO_POSITION);
  return best;
}
#else
#define TEAM GROUP
#define SYNCHRONIZE_TEAM barrier(CLK_LOCAL_MEM_FENCE)
#define MESSAGE_WRITTEN SYNCHRONIZE_TEAM; // PoCL runs work-items one after another: the message must be written before any of them waits
#define CANDIDATES GROUP
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

// The best candidate of the group, from those of its teams, at most as many as a team has work-items. Call it between two barriers.
Best bestOfGroup(Best team, __local Magnitude *sizes, __local int *positions) {
#ifdef NVIDIA
  const int lane = get_local_id(0) % TEAM;
  Best other = {0, NO_POSITION};
  if (lane < GROUP / TEAM) other.size = sizes[lane], other.position = positions[lane];
  return bestOfTeam(other, sizes, positions);
#else
  return team;
#endif
}

#if defined(NVIDIA) && WORDS == 1
// Division is a slow routine on NVIDIA, on the critical path. This is as accurate except at the ends of the range.
REAL quotient(REAL a, REAL b) {
  if (!(fabs(b) > 0x1p-100f && fabs(b) < 0x1p100f)) return a / b;
  const REAL r = native_recip(b), q = a * r;
  return fma(fma(-q, b, a), r, q);
}
#else
REAL quotient(REAL a, REAL b) { return a / b; }
#endif

#define LENGTH (P * WORDS) // of a message
#define BATCH 4            // loads in flight

__kernel FIXED(GROUP) void factorPanel(__global REAL *W, int ld, int rows, int first, __global int *state, int moves, int pivots,
                                      __global REAL *diagonal, volatile __global ulong *slots, int spins) {
  __local Magnitude sizes[CANDIDATES];
  __local int positions[CANDIDATES], bestPositions[MAX_GROUPS];
  __local REAL4 bestRows[MAX_GROUPS][P / 4]; // rows, rotated: elements 1 to P - 1, then element 0
  __local int ended;                        // 1 + the column that ends the factorization, or TIMED_OUT
  const int lid = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0), lane = lid % TEAM;
  const int row = first + group * GROUP + lid;
  volatile __global int *sharedState = state;
  if (lid == 0) ended = sharedState[STUCK] != 0 ? TIMED_OUT : state[ENDED];
  REAL a[P];
UNROLL
  for (int c = 0; c < P / 4; c++) {
    REAL4 v = row < rows ? ((const __global REAL4 *)(W + (long)row * ld + first))[c] : (REAL4)(0);
    a[4 * c] = v.x, a[4 * c + 1] = v.y, a[4 * c + 2] = v.z, a[4 * c + 3] = v.w;
  }
  int position = row, looks = 0;
  bool candidate = row < rows;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int before = ended;
  Best mine = {candidate ? magnitudeOf(a[0]) : 0, candidate ? position : NO_POSITION};
  Best team = bestOfTeam(mine, sizes, positions);

  for (int p = 0; p < P && before == 0; p++) {
    if (TEAM < GROUP && lane == 0) sizes[lid / TEAM] = team.size, positions[lid / TEAM] = team.position;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ended != 0) break; // written before the barrier: the same for all, unless a wait has timed out
    Best best = bestOfGroup(team, sizes, positions);
    const bool isBest = candidate && position == best.position;
    __local REAL4 *own = bestRows[group];
    if (isBest) {
UNROLL
      for (int c = 0; c < P / 4; c++) {
        const int remaining = P - p - 4 * c; // the others are entries of L
        own[c] = (REAL4)(remaining > 1 ? a[4 * c + 1] : (REAL)0, remaining > 2 ? a[4 * c + 2] : (REAL)0, remaining > 3 ? a[4 * c + 3] : (REAL)0,
                         4 * c + 4 == P ? a[0] : remaining > 4 ? a[(4 * c + 4) % P] : (REAL)0);
      }
    }
    if (lid == 0) bestPositions[group] = best.position;
    if (groups > 1) {
      const uint epoch = (uint)(first + p) % EPOCHS + 1;
      volatile __global ulong *slot = slots + (size_t)((p & 1) * groups) * LENGTH;
      __local uint *received = (__local uint *)bestRows;
      // By a whole team: a store that other groups must see at once takes 13 ns.
      if (team.position == best.position) {
        SYNCHRONIZE_TEAM;
        const uint offset = best.position == NO_POSITION ? NO_ROW : best.position - first;
        for (int e = lane; e < LENGTH; e += TEAM) slot[group * LENGTH + e] = (ulong)(offset << EPOCH_BITS | epoch) << 32 | received[group * LENGTH + e];
      }
      MESSAGE_WRITTEN
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
          if (missing && (++looks > spins || ((looks & 1023) == 0 && sharedState[STUCK] != 0))) {
            ended = TIMED_OUT;
            missing = false;
          }
        }
UNROLL
        for (int q = 0; q < BATCH; q++) {
          const int e = e0 + q * GROUP, g = e / LENGTH;
          const uint offset = (uint)(words[q] >> (32 + EPOCH_BITS));
          if (e >= total || g == group) continue;
          received[e] = (uint)words[q];
          if (e % LENGTH == 0) bestPositions[g] = offset == NO_ROW ? NO_POSITION : first + (int)offset;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const __local REAL4 *u = own;
    if (groups > 1) {
      Best received = {0, NO_POSITION};
      int from = 0;
      for (int g = lane; g < groups; g += TEAM) {
        const Magnitude size = magnitudeOf(((const __local REAL *)bestRows[g])[P - 1]);
        if (bestPositions[g] != NO_POSITION && isBetter(size, bestPositions[g], received.size, received.position)) received.size = size, received.position = bestPositions[g], from = g;
      }
      const int owner = received.position;
      best = bestOfTeam(received, sizes, positions);
#ifdef NVIDIA
      from = (int)minOfWarp(owner == best.position ? (uint)from : ~0u);
#else
      for (from = 0; from < groups - 1 && bestPositions[from] != best.position;) from++;
#endif
      u = bestRows[min((uint)from, (uint)groups - 1)]; // after a timeout there may be no owner
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
    // The next column first: its pivot is searched while the rest is computed.
    a[0] = fma(-l, u[0].x, a[1]);
    mine.size = candidate ? magnitudeOf(a[0]) : 0;
    mine.position = candidate ? position : NO_POSITION;
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
    if (lid == 0 && ended == 0 && (size == 0 || size >= INFINITE)) ended = first + p + 1;
    if (lid == 0 && group == 0) {
      state[pivots + first + p] = best.position;
      diagonal[first + p] = top;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (before == 0 && ended == TIMED_OUT && lid == 0) sharedState[STUCK] = 1;
  if (before == 0 && ended > 0 && lid == 0 && group == 0) state[ENDED] = ended;
  if (ended == 0 && row < rows) {
    writeMoves(state + moves, first, P, row, position);
UNROLL
    for (int c = 0; c < P / 4; c++)
      ((__global REAL4 *)(W + (long)position * ld + first))[c] = (REAL4)(a[4 * c], a[4 * c + 1], a[4 * c + 2], a[4 * c + 3]);
  }
}
