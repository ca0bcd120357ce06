// Sparse triangular solves by the schedules of the sparse paper, launched by solve.ts. BY_LEVELS: rows are stored in the order of
// their levels, and indices are positions in that order; row `position` is that of unknown order[position]. Otherwise rows are stored
// in natural order, and solved from the last if UPPER. In LEVC and SLFC columns take the place of rows. `words` has the next
// ticket, the number of rows done, and whether a wait was abandoned.

// The number of entries of a row that are waited for together.
#ifndef WINDOW
#define WINDOW 4
#endif

__kernel void prepare(int n, __global Bits *known, __global int *words) {
  int k = (int)get_global_id(0);
  if (k < n) known[k] = UNKNOWN;
  if (k < SOLVE_WORDS) words[k] = 0;
}

Bits bitsOfResult(double x) {
#if REAL_BYTES == 8
  return bitsOf(x);
#else
  return x == x ? as_uint((float)x) : 0x7fc00000u;
#endif
}

#ifdef BY_LEVELS
#define POSITION(k) (k)
#define UNKNOWN_OF(position) order[position]
#elif UPPER
#define POSITION(k) (n - 1 - (k))
#define UNKNOWN_OF(position) (position)
#else
#define POSITION(k) (k)
#define UNKNOWN_OF(position) (position)
#endif

#define ARGUMENTS \
  __global const int *begins, __global const int *indices, __global const REAL *values, __global const REAL *diagonal, \
      __global const double *reciprocals, __global const int *significantBits, __global const int *order, __global const REAL *b, \
      __global REAL *x, volatile __global Bits *known, volatile __global int *words

#define ARGUMENT_NAMES begins, indices, values, diagonal, reciprocals, significantBits, order, b, x, known, words
#define PIVOT(position) pivotOf(position, diagonal, reciprocals, significantBits)

#define PUBLISH(position, i, value) \
  Bits result = bitsOfResult(value); \
  known[position] = result; \
  *(__global Bits *)(x + (i)) = result;

#ifdef EXACT
// Entries of a row that wait for their unknowns: every step-th, `next` being the next one without a slot. Exact sums do not depend on
// the order: an entry is subtracted as soon as its unknown is known, and another takes its slot.
typedef struct {
  int c[WINDOW], next, step, end, remaining;
  REAL a[WINDOW];
} Slots;

void fillSlot(Slots *slots, int w, __global const int *indices, __global const REAL *values) {
  bool exists = slots->next < slots->end;
  slots->c[w] = exists ? indices[slots->next] : -1;
  slots->a[w] = exists ? values[slots->next] : (REAL)0;
  slots->next += slots->step;
}
Slots slotsOf(int first, int step, int end, __global const int *indices, __global const REAL *values) {
  Slots slots;
  slots.next = first;
  slots.step = step;
  slots.end = end;
  slots.remaining = first < end ? (end - first + step - 1) / step : 0;
#pragma unroll
  for (int w = 0; w < WINDOW; w++) fillSlot(&slots, w, indices, values);
  return slots;
}
// Look at all slots once. Returns whether an unknown was known.
bool subtractKnown(Slots *slots, Row *row, __global const int *indices, __global const REAL *values, volatile __global const Bits *known) {
  Bits u[WINDOW];
  int remaining = slots->remaining;
#pragma unroll
  for (int w = 0; w < WINDOW; w++) u[w] = slots->c[w] < 0 ? UNKNOWN : known[slots->c[w]];
#pragma unroll
  for (int w = 0; w < WINDOW; w++)
    if (u[w] != UNKNOWN) {
      subtractProduct(row, slots->a[w], asReal(u[w]));
      slots->remaining--;
      fillSlot(slots, w, indices, values);
    }
  return slots->remaining != remaining;
}

#ifndef TOGETHER
void solveWaiting(int position, int i, int limit, ARGUMENTS) {
  int first = begins[position], end = begins[position + 1];
  REAL right = b[i];
  Pivot pivot = PIVOT(position);
  Row row = rowOf(right);
  Slots slots = slotsOf(first, 1, end, indices, values);
  for (int spins = 0;;) {
    if (subtractKnown(&slots, &row, indices, values, known)) spins = 0;
    else if (slots.remaining > 0 && isAbandoned(&spins, limit, words)) return;
    if (slots.remaining == 0) {
      PUBLISH(position, i, solved(&row, pivot, 1, first, end, indices, values, known, right))
      return;
    }
  }
}
#endif
#endif

// A row that waits for its unknowns, WINDOW of them at a time: the loads of a window overlap, and so do those of the next window's
// entries. In exact arithmetic this is faster for rows that fit into a window: a work-item that only looks delays the others of its warp
// less than one that adds.
#if !defined(EXACT) || defined(TOGETHER)
void solveWaiting(int position, int i, int limit, ARGUMENTS) {
  int first = begins[position], end = begins[position + 1], p = first;
  REAL right = b[i];
  Pivot pivot = PIVOT(position);
  Row row = rowOf(right);
  int c[WINDOW], nextC[WINDOW];
  REAL a[WINDOW], nextA[WINDOW];
  Bits u[WINDOW];
#define FETCH(q) \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    bool exists = (q) + w < end; \
    nextC[w] = exists ? indices[(q) + w] : -1; \
    nextA[w] = exists ? values[(q) + w] : (REAL)0; \
  }
#define TAKE \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    c[w] = nextC[w]; \
    a[w] = nextA[w]; \
    u[w] = c[w] < 0 ? (Bits)0 : UNKNOWN; \
  }
  FETCH(p)
  TAKE
  FETCH(p + WINDOW)
  for (int spins = 0;;) {
    bool all = true;
#pragma unroll
    for (int w = 0; w < WINDOW; w++)
      if (u[w] == UNKNOWN) u[w] = known[c[w]];
#pragma unroll
    for (int w = 0; w < WINDOW; w++) all = all && u[w] != UNKNOWN;
    if (all) {
#pragma unroll
      for (int w = 0; w < WINDOW; w++) subtractProduct(&row, a[w], asReal(u[w]));
      p += WINDOW;
      if (p >= end) {
        // The last window is padded with zeros.
        PUBLISH(position, i, solved(&row, pivot, WINDOW, first, end, indices, values, known, right))
        return;
      }
      TAKE
      FETCH(p + WINDOW)
      spins = 0;
    } else if (isAbandoned(&spins, limit, words))
      return;
  }
}
#endif

// SLFR and GSF: rows are handed out in order, one per work-item, which polls the unknowns themselves. All work-items of a group share one
// loop, so that none blocks another that it waits for.
__kernel void solveRows(int n, int limit, ARGUMENTS) {
  FOR_EACH_TICKET(k, n, solveWaiting(POSITION(k), UNKNOWN_OF(POSITION(k)), limit, ARGUMENT_NAMES))
}

#ifdef EXACT
// The same for long rows: a work-group has one row at a time, and each of its work-items every size-th entry.
__kernel void solveLongRows(int n, int limit, ARGUMENTS, __local Row *shares) {
  __local int ticket, abandoned;
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  for (;;) {
    if (id == 0) {
      ticket = words[FAILED] ? n : atomic_inc(words + TICKET);
      abandoned = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int k = ticket;
    if (k >= n) return;
    int position = POSITION(k), i = UNKNOWN_OF(position), first = begins[position], end = begins[position + 1];
    REAL right = b[i];
    Pivot pivot = PIVOT(position);
    Row row = rowOf(id == 0 ? right : (REAL)0);
    Slots slots = slotsOf(first + id, size, end, indices, values);
    for (int spins = 0; slots.remaining > 0;) {
      if (subtractKnown(&slots, &row, indices, values, known)) spins = 0;
      else if (isAbandoned(&spins, limit, words)) {
        abandoned = 1;
        break;
      }
    }
    for (int step = 1; step < size; step *= 2) {
      shares[id] = row;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (id % (2 * step) == 0 && id + step < size) addFilter(&row, shares[id + step]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0 && !abandoned) {
      PUBLISH(position, i, solved(&row, pivot, 2 * size, first, end, indices, values, known, right))
    }
  }
}
#endif

#ifndef BY_LEVELS
// GSF by blocks of rows: a work-item has consecutive rows, a work-group those of its work-items, which find each other's unknowns in
// local memory, ten times as fast as global memory. Windows of entries are fetched one ahead, across the ends of rows, together
// with the unknowns already known. Work-items look into global memory only every SKIP-th time, because the others of their group
// wait meanwhile.
#ifndef SKIP
#define SKIP 2
#endif
void solveBlock(int k, int last, int base, int n, int limit, ARGUMENTS, volatile __local Bits *nearby) {
  int c[WINDOW], nextC[WINDOW], first = 0, end = 0, nextK = k, nextFirst = 0, nextP = 0, nextEnd = 0;
  REAL a[WINDOW], nextA[WINDOW], right = 0, nextRight = 0;
  Pivot pivot = {1.0, 1.0, 1}, nextPivot = pivot;
  Bits u[WINDOW], nextU[WINDOW];
  bool ends = true, nextEnds = false, started = false;
  Row row = rowOf(0);
#define FETCH_ROW \
  if (nextK < last) { \
    int position = POSITION(nextK); \
    nextP = nextFirst = begins[position]; \
    nextEnd = begins[position + 1]; \
    nextRight = b[position]; \
    nextPivot = PIVOT(position); \
  }
#define FETCH_WINDOW \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    bool exists = nextP + w < nextEnd; \
    nextC[w] = exists ? indices[nextP + w] : -1; \
    nextA[w] = exists ? values[nextP + w] : (REAL)0; \
    nextU[w] = exists ? UNKNOWN : (Bits)0; \
  } \
  nextP += WINDOW; \
  nextEnds = nextP >= nextEnd;
#define IS_FAR(c) (POSITION(c) < base)
  FETCH_ROW
  FETCH_WINDOW
  for (int spins = 0, look = 0;; look++) {
    bool all = true;
    if (started) {
      if (look % SKIP == 0) {
#pragma unroll
        for (int w = 0; w < WINDOW; w++)
          if (u[w] == UNKNOWN && IS_FAR(c[w])) u[w] = known[c[w]];
#pragma unroll
        for (int w = 0; w < WINDOW; w++)
          if (nextU[w] == UNKNOWN && IS_FAR(nextC[w])) nextU[w] = known[nextC[w]];
      }
#pragma unroll
      for (int w = 0; w < WINDOW; w++)
        if (u[w] == UNKNOWN && !IS_FAR(c[w])) u[w] = nearby[POSITION(c[w]) - base];
#pragma unroll
      for (int w = 0; w < WINDOW; w++) all = all && u[w] != UNKNOWN;
    }
    if (all) {
      if (started) {
#pragma unroll
        for (int w = 0; w < WINDOW; w++) subtractProduct(&row, a[w], asReal(u[w]));
        if (ends) {
          int position = POSITION(k);
          // The last window is padded with zeros.
          PUBLISH(position, position, solved(&row, pivot, WINDOW, first, end, indices, values, known, right))
          nearby[k - base] = result;
          if (++k == last) return;
        }
      }
      if (ends) {
        first = nextFirst;
        end = nextEnd;
        right = nextRight;
        pivot = nextPivot;
        row = rowOf(right);
      }
      ends = nextEnds;
#pragma unroll
      for (int w = 0; w < WINDOW; w++) {
        c[w] = nextC[w];
        a[w] = nextA[w];
        u[w] = nextU[w];
      }
      if (nextEnds) {
        nextK++;
        FETCH_ROW
      }
      FETCH_WINDOW
      started = true;
      spins = 0;
    } else if (isAbandoned(&spins, limit, words))
      return;
  }
}

__kernel void solveRowBlocks(int n, int blockRows, int limit, ARGUMENTS, volatile __local Bits *nearby) {
  __local int ticket;
  int id = (int)get_local_id(0), size = (int)get_local_size(0), rows = size * blockRows;
  for (;;) {
    if (id == 0) ticket = words[FAILED] ? n : atomic_add(words + TICKET, rows);
    for (int r = id; r < rows; r += size) nearby[r] = UNKNOWN;
    barrier(CLK_LOCAL_MEM_FENCE);
    int base = ticket, k = base + id * blockRows;
    if (base >= n) return;
    if (k < n) solveBlock(k, min(k + blockRows, n), base, n, limit, ARGUMENT_NAMES, nearby);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// A row whose unknowns are all known.
void solveReady(int position, int i, ARGUMENTS) {
  int first = begins[position], end = begins[position + 1];
  REAL right = b[i];
  Row row = rowOf(right);
  for (int p = first; p < end; p++) subtractProduct(&row, values[p], asReal(known[indices[p]]));
  PUBLISH(position, i, solved(&row, PIVOT(position), 0, first, end, indices, values, known, right))
}
// LEVR, one level. If rows are in natural order, `order` lists those of the level.
__kernel void solveLevel(int from, int to, ARGUMENTS) {
  int k = from + (int)get_global_id(0);
#ifdef BY_LEVELS
  if (k < to) solveReady(k, order[k], ARGUMENT_NAMES);
#else
  if (k < to) solveReady(order[k], order[k], ARGUMENT_NAMES);
#endif
}

#ifdef BY_LEVELS

// Report `done` more rows as done and take the next task, once all rows before its level are done. Returns `tasks` if there is none
// or a wait was abandoned.
int nextTask(int done, int tasks, int limit, __global const int *list, volatile __global int *words) {
  if (done > 0) atomic_add(words + DONE, done);
  int t = words[FAILED] ? tasks : atomic_inc(words + TICKET), spins = 0;
  while (t < tasks && words[DONE] < list[3 * t + 2])
    if (isAbandoned(&spins, limit, words)) t = tasks;
  FENCE;
  return t;
}

// LEVR: tasks are handed out in order; each waits until all rows of earlier levels are done, and no later row can be done before.
// LEVC: the same by columns; an unknown is subtracted from the others as soon as it is known.
#define LEVELS(name, work) \
  __kernel void name(int tasks, int limit, __global const int *list, ARGUMENTS) { \
    __local int ticket; \
    int id = (int)get_local_id(0), size = (int)get_local_size(0), done = 0; \
    for (;;) { \
      if (id == 0) ticket = nextTask(done, tasks, limit, list, words); \
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); \
      int t = ticket; \
      if (t >= tasks) return; \
      int from = list[3 * t], to = list[3 * t + 1]; \
      for (int position = from + id; position < to; position += size) work; \
      done = to - from; \
      FENCE; \
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); \
    } \
  }
// LEVR with narrow levels: one work-group, and a barrier after each level. Everything a row needs except its unknowns is fetched before
// the barrier.
__kernel void solveNarrow(int levels, __global const int *starts, ARGUMENTS) {
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  int position = starts[0] + id, to = starts[1], first = 0, end = 0, i = 0, c[WINDOW];
  REAL right = 0, a[WINDOW];
  Pivot pivot = {1.0, 1.0, 1};
#define FETCH_POSITION \
  if (position < to) { \
    first = begins[position]; \
    end = begins[position + 1]; \
    i = order[position]; \
    right = b[i]; \
    pivot = PIVOT(position); \
    _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
      bool exists = first + w < end; \
      c[w] = exists ? indices[first + w] : -1; \
      a[w] = exists ? values[first + w] : (REAL)0; \
    } \
  }
  FETCH_POSITION
  for (int m = 0; m < levels; m++) {
    if (position < to) {
      Row row = rowOf(right);
#pragma unroll
      for (int w = 0; w < WINDOW; w++) subtractProduct(&row, a[w], c[w] < 0 ? (REAL)0 : asReal(((__global const Bits *)known)[c[w]]));
      for (int p = first + WINDOW; p < end; p++) subtractProduct(&row, values[p], asReal(((__global const Bits *)known)[indices[p]]));
      PUBLISH(position, i, solved(&row, pivot, WINDOW, first, end, indices, values, known, right))
      for (position += size; position < to; position += size) solveReady(position, order[position], ARGUMENT_NAMES);
    }
    if (m + 1 < levels) {
      position = to + id;
      to = starts[m + 2];
      FETCH_POSITION
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

LEVELS(solveLevels, solveReady(position, order[position], ARGUMENT_NAMES))

#ifndef EXACT
// Atomic subtraction.
void atomicSubtract(volatile __global Bits *p, REAL v) {
  for (Bits old = *p, seen;; old = seen) {
#if REAL_BYTES == 8
    seen = atom_cmpxchg(p, old, as_ulong(as_double(old) - v));
#else
    seen = atomic_cmpxchg(p, old, as_uint(as_float(old) - v));
#endif
    if (seen == old) return;
  }
}
void subtractColumn(int position, REAL v, __global const int *begins, __global const int *indices, __global const REAL *values, volatile __global Bits *rest) {
  for (int p = begins[position], end = begins[position + 1]; p < end; p++) atomicSubtract(rest + indices[p], values[p] * v);
}
REAL solveColumn(int position, __global const REAL *diagonal, __global const int *order, __global REAL *x, volatile __global Bits *rest) {
  REAL s = asReal(rest[position]), v = KIND == 1 ? s : s / diagonal[position];
  *(__global Bits *)(x + order[position]) = bitsOfResult(v);
  return v;
}

// For columns `known` starts as the right-hand side, and `counts` as the number of unknowns that each one waits for.
__kernel void prepareColumns(int n, __global const int *order, __global const REAL *b, __global const int *waits, __global REAL *rest, __global int *counts,
                             __global int *words) {
  int k = (int)get_global_id(0);
  if (k < SOLVE_WORDS) words[k] = 0;
  if (k >= n) return;
  rest[k] = b[order[k]];
  counts[k] = waits[k];
}

LEVELS(solveColumnLevels, subtractColumn(position, solveColumn(position, diagonal, order, x, known), begins, indices, values, known))

// A column, once its unknown waits for no other.
void solveColumnWaiting(int position, int limit, ARGUMENTS, volatile __global int *counts) {
  for (int spins = 0;;) {
    if (counts[position] == 0) {
      FENCE;
      subtractColumn(position, solveColumn(position, diagonal, order, x, known), begins, indices, values, known);
      FENCE;
      for (int p = begins[position], end = begins[position + 1]; p < end; p++) atomic_dec(counts + indices[p]);
      return;
    }
    if (isAbandoned(&spins, limit, words)) return;
  }
}

// SLFC.
__kernel void solveColumns(int n, int limit, ARGUMENTS, volatile __global int *counts) {
  FOR_EACH_TICKET(position, n, solveColumnWaiting(position, limit, ARGUMENT_NAMES, counts))
}

// LEVC, one level.
__kernel void solveColumnLevel(int from, int to, ARGUMENTS) {
  int position = from + (int)get_global_id(0);
  if (position < to) subtractColumn(position, solveColumn(position, diagonal, order, x, known), begins, indices, values, known);
}
#endif
#endif
