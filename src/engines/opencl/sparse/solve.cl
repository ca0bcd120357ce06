// Sparse triangular solves. Line k is the row of the unknown that is solved k-th (BY_LEVELS: lines are in an order of levels,
// and indices are places in it), or lines are rows in the natural order, from the last on if UPPER. `words` has the next
// ticket, how many lines are done, and whether waiting was given up.
#define DONE 1

// StridedMatrix of a row that are waited for at once.
#ifndef WINDOW
#define WINDOW 4
#endif

__kernel void prepare(int n, __global Bits *known, __global int *words) {
  int k = (int)get_global_id(0);
  if (k < n) known[k] = UNKNOWN;
  if (k < 4) words[k] = 0;
}

Bits bitsOfResult(double x) {
#if REAL_BYTES == 8
  return bitsOf(x);
#else
  return x == x ? as_uint((float)x) : 0x7fc00000u;
#endif
}

#ifdef BY_LEVELS
#define LINE(k) (k)
#define UNKNOWN_OF(line) order[line]
#elif UPPER
#define LINE(k) (n - 1 - (k))
#define UNKNOWN_OF(line) (line)
#else
#define LINE(k) (k)
#define UNKNOWN_OF(line) (line)
#endif

#define ARGUMENTS \
  __global const int *begins, __global const int *indices, __global const REAL *values, __global const REAL *diagonal, \
      __global const double *reciprocals, __global const int *facts, __global const int *order, __global const REAL *b, __global REAL *x, volatile __global Bits *known, volatile __global int *words

#define PASSED begins, indices, values, diagonal, reciprocals, facts, order, b, x, known, words
#define PIVOT(line) pivotOf(line, diagonal, reciprocals, facts)

#define PUBLISH(line, i, value) \
  Bits result = bitsOfResult(value); \
  known[line] = result; \
  *(__global Bits *)(x + (i)) = result;

#ifdef EXACT
// The next entries of a row that wait for their unknowns, those from `next` on in steps. Exact sums may be made in any order: an
// entry is taken as soon as its unknown is there, and another one waits in its slot.
typedef struct {
  int c[WINDOW], next, step, end, left;
  REAL a[WINDOW];
} Slots;

void fillSlot(Slots *slots, int w, __global const int *indices, __global const REAL *values) {
  bool there = slots->next < slots->end;
  slots->c[w] = there ? indices[slots->next] : -1;
  slots->a[w] = there ? values[slots->next] : (REAL)0;
  slots->next += slots->step;
}
Slots slotsOf(int first, int step, int end, __global const int *indices, __global const REAL *values) {
  Slots slots;
  slots.next = first;
  slots.step = step;
  slots.end = end;
  slots.left = first < end ? (end - first + step - 1) / step : 0;
#pragma unroll
  for (int w = 0; w < WINDOW; w++) fillSlot(&slots, w, indices, values);
  return slots;
}
// Look once. Whether there was something.
bool takeThose(Slots *slots, Row *row, __global const int *indices, __global const REAL *values, volatile __global const Bits *known) {
  Bits u[WINDOW];
  int left = slots->left;
#pragma unroll
  for (int w = 0; w < WINDOW; w++) u[w] = slots->c[w] < 0 ? UNKNOWN : known[slots->c[w]];
#pragma unroll
  for (int w = 0; w < WINDOW; w++)
    if (u[w] != UNKNOWN) {
      takeProduct(row, slots->a[w], asReal(u[w]));
      slots->left--;
      fillSlot(slots, w, indices, values);
    }
  return slots->left != left;
}

void solveWaiting(int line, int i, int limit, ARGUMENTS) {
  int first = begins[line], end = begins[line + 1];
  REAL right = b[i];
  Pivot pivot = PIVOT(line);
  Row row = rowOf(right);
  Slots slots = slotsOf(first, 1, end, indices, values);
  for (int spins = 0;;) {
    if (takeThose(&slots, &row, indices, values, known)) spins = 0;
    else if (slots.left > 0 && isGivenUp(&spins, limit, words)) return;
    if (slots.left == 0) {
      PUBLISH(line, i, solved(&row, pivot, 1, first, end, indices, values, known, right))
      return;
    }
  }
}

#else
// A row that waits for its unknowns, WINDOW of them at a time: the loads of a window are under way together, and the entries of
// the next one come meanwhile.
void solveWaiting(int line, int i, int limit, ARGUMENTS) {
  int first = begins[line], end = begins[line + 1], p = first;
  REAL right = b[i];
  Pivot pivot = PIVOT(line);
  Row row = rowOf(right);
  int c[WINDOW], nextC[WINDOW];
  REAL a[WINDOW], nextA[WINDOW];
  Bits u[WINDOW];
#define FETCH(q) \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    bool there = (q) + w < end; \
    nextC[w] = there ? indices[(q) + w] : -1; \
    nextA[w] = there ? values[(q) + w] : (REAL)0; \
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
      for (int w = 0; w < WINDOW; w++) takeProduct(&row, a[w], asReal(u[w]));
      p += WINDOW;
      if (p >= end) {
        PUBLISH(line, i, solved(&row, pivot, 0, first, end, indices, values, known, right))
        return;
      }
      TAKE
      FETCH(p + WINDOW)
      spins = 0;
    } else if (isGivenUp(&spins, limit, words))
      return;
  }
}
#endif

// SLFR and GSF: lines are handed out in order, one to a work-item, which waits for the unknowns of its row themselves. All
// work-items of a group go round one loop, so that none keeps another one waiting that it waits for.
__kernel void solveRows(int n, int limit, ARGUMENTS) {
  __local int ticket;
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  for (;;) {
    if (id == 0) ticket = words[FAILED] ? n : atomic_add(words + TICKET, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    int start = ticket, k = start + id;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (start >= n) return;
    if (k < n) solveWaiting(LINE(k), UNKNOWN_OF(LINE(k)), limit, PASSED);
  }
}

#ifdef EXACT
// The same where rows are long: a group has one at a time, and its work-items have every size-th entry each.
__kernel void solveLongRows(int n, int limit, ARGUMENTS, __local Row *shares) {
  __local int ticket, missing;
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  for (;;) {
    if (id == 0) {
      ticket = words[FAILED] ? n : atomic_inc(words + TICKET);
      missing = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int k = ticket;
    if (k >= n) return;
    int line = LINE(k), i = UNKNOWN_OF(line), first = begins[line], end = begins[line + 1];
    REAL right = b[i];
    Pivot pivot = PIVOT(line);
    Row row = rowOf(id == 0 ? right : (REAL)0);
    Slots slots = slotsOf(first + id, size, end, indices, values);
    for (int spins = 0; slots.left > 0;) {
      if (takeThose(&slots, &row, indices, values, known)) spins = 0;
      else if (isGivenUp(&spins, limit, words)) {
        missing = 1;
        break;
      }
    }
    for (int step = 1; step < size; step *= 2) {
      shares[id] = row;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (id % (2 * step) == 0 && id + step < size) addFilter(&row, shares[id + step]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0 && !missing) {
      PUBLISH(line, i, solved(&row, pivot, 2 * size, first, end, indices, values, known, right))
    }
  }
}
#endif

#ifndef BY_LEVELS
// GSF by runs: a work-item has some rows that follow each other, and a group those of its work-items, which find each other's
// unknowns nearby: in memory of the group, which is ten times as fast as that which all share. Windows of entries are fetched
// one ahead, across the ends of rows, and with them unknowns that are there already. Work-items look far away only every
// SKIP-th time, for the others of their group wait for that.
#ifndef SKIP
#define SKIP 2
#endif
void solveRun(int k, int last, int base, int n, int limit, ARGUMENTS, volatile __local Bits *near) {
  int c[WINDOW], nextC[WINDOW], first = 0, end = 0, nextK = k, nextFirst = 0, nextP = 0, nextEnd = 0;
  REAL a[WINDOW], nextA[WINDOW], right = 0, nextRight = 0;
  Pivot pivot = {1.0, 1.0, 1}, nextPivot = pivot;
  Bits u[WINDOW], nextU[WINDOW];
  bool ends = true, nextEnds = false, started = false;
  Row row = rowOf(0);
#define FETCH_ROW \
  if (nextK < last) { \
    int line = LINE(nextK); \
    nextP = nextFirst = begins[line]; \
    nextEnd = begins[line + 1]; \
    nextRight = b[line]; \
    nextPivot = PIVOT(line); \
  }
#define FETCH_WINDOW \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    bool there = nextP + w < nextEnd; \
    nextC[w] = there ? indices[nextP + w] : -1; \
    nextA[w] = there ? values[nextP + w] : (REAL)0; \
    nextU[w] = there ? UNKNOWN : (Bits)0; \
  } \
  nextP += WINDOW; \
  nextEnds = nextP >= nextEnd;
#define IS_FAR(c) (LINE(c) < base)
  FETCH_ROW
  FETCH_WINDOW
  for (int spins = 0, turn = 0;; turn++) {
    bool all = true;
    if (started) {
      if (turn % SKIP == 0) {
#pragma unroll
        for (int w = 0; w < WINDOW; w++)
          if (u[w] == UNKNOWN && IS_FAR(c[w])) u[w] = known[c[w]];
#pragma unroll
        for (int w = 0; w < WINDOW; w++)
          if (nextU[w] == UNKNOWN && IS_FAR(nextC[w])) nextU[w] = known[nextC[w]];
      }
#pragma unroll
      for (int w = 0; w < WINDOW; w++)
        if (u[w] == UNKNOWN && !IS_FAR(c[w])) u[w] = near[LINE(c[w]) - base];
#pragma unroll
      for (int w = 0; w < WINDOW; w++) all = all && u[w] != UNKNOWN;
    }
    if (all) {
      if (started) {
#pragma unroll
        for (int w = 0; w < WINDOW; w++) takeProduct(&row, a[w], asReal(u[w]));
        if (ends) {
          int line = LINE(k);
          // Zeros fill the last window.
          PUBLISH(line, line, solved(&row, pivot, WINDOW, first, end, indices, values, known, right))
          near[k - base] = result;
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
    } else if (isGivenUp(&spins, limit, words))
      return;
  }
}

__kernel void solveRuns(int n, int run, int limit, ARGUMENTS, volatile __local Bits *near) {
  __local int ticket;
  int id = (int)get_local_id(0), size = (int)get_local_size(0), rows = size * run;
  for (;;) {
    if (id == 0) ticket = words[FAILED] ? n : atomic_add(words + TICKET, rows);
    for (int r = id; r < rows; r += size) near[r] = UNKNOWN;
    barrier(CLK_LOCAL_MEM_FENCE);
    int base = ticket, k = base + id * run;
    if (base >= n) return;
    if (k < n) solveRun(k, min(k + run, n), base, n, limit, PASSED, near);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// A row whose unknowns are all there.
void solveLine(int line, int i, ARGUMENTS) {
  int first = begins[line], end = begins[line + 1];
  REAL right = b[i];
  Row row = rowOf(right);
  for (int p = first; p < end; p++) takeProduct(&row, values[p], asReal(known[indices[p]]));
  PUBLISH(line, i, solved(&row, PIVOT(line), 0, first, end, indices, values, known, right))
}
// LEVR, one level. Where lines are in the natural order, `order` has those of the level.
__kernel void solveLevel(int from, int to, ARGUMENTS) {
  int k = from + (int)get_global_id(0);
#ifdef BY_LEVELS
  if (k < to) solveLine(k, order[k], PASSED);
#else
  if (k < to) solveLine(order[k], order[k], PASSED);
#endif
}

#ifdef BY_LEVELS

// So many lines are done more. The next task, once all lines before its level are done; `tasks` if there is none, or waiting
// was given up.
int nextTask(int done, int tasks, int limit, __global const int *list, volatile __global int *words) {
  if (done > 0) atomic_add(words + DONE, done);
  int t = words[FAILED] ? tasks : atomic_inc(words + TICKET), spins = 0;
  while (t < tasks && words[DONE] < list[3 * t + 2])
    if (isGivenUp(&spins, limit, words)) t = tasks;
  FENCE;
  return t;
}

// LEVR: tasks are handed out in order; one waits until all lines of earlier levels are done, which no later line can be
// before. LEVC the same by columns: what an unknown takes from others is taken from them when it is known.
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
      for (int line = from + id; line < to; line += size) work; \
      done = to - from; \
      FENCE; \
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); \
    } \
  }
// LEVR where levels are narrow: one work-group, and a barrier after each. What a row needs beside its unknowns is fetched
// before the barrier.
__kernel void solveNarrow(int levels, __global const int *starts, ARGUMENTS) {
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  int line = starts[0] + id, to = starts[1], first = 0, end = 0, i = 0, c[WINDOW];
  REAL right = 0, a[WINDOW];
  Pivot pivot = {1.0, 1.0, 1};
#define FETCH_LINE \
  if (line < to) { \
    first = begins[line]; \
    end = begins[line + 1]; \
    i = order[line]; \
    right = b[i]; \
    pivot = PIVOT(line); \
    _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
      bool there = first + w < end; \
      c[w] = there ? indices[first + w] : -1; \
      a[w] = there ? values[first + w] : (REAL)0; \
    } \
  }
  FETCH_LINE
  for (int m = 0; m < levels; m++) {
    if (line < to) {
      Row row = rowOf(right);
#pragma unroll
      for (int w = 0; w < WINDOW; w++) takeProduct(&row, a[w], c[w] < 0 ? (REAL)0 : asReal(((__global const Bits *)known)[c[w]]));
      for (int p = first + WINDOW; p < end; p++) takeProduct(&row, values[p], asReal(((__global const Bits *)known)[indices[p]]));
      PUBLISH(line, i, solved(&row, pivot, WINDOW, first, end, indices, values, known, right))
      for (line += size; line < to; line += size) solveLine(line, order[line], PASSED);
    }
    if (m + 1 < levels) {
      line = to + id;
      to = starts[m + 2];
      FETCH_LINE
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

LEVELS(solveLevels, solveLine(line, order[line], PASSED))

#ifndef EXACT
// Subtract from a number that others subtract from too.
void takeFrom(volatile __global Bits *p, REAL v) {
  for (Bits old = *p, seen;; old = seen) {
#if REAL_BYTES == 8
    seen = atom_cmpxchg(p, old, as_ulong(as_double(old) - v));
#else
    seen = atomic_cmpxchg(p, old, as_uint(as_float(old) - v));
#endif
    if (seen == old) return;
  }
}
void takeColumn(int line, REAL v, __global const int *begins, __global const int *indices, __global const REAL *values, volatile __global Bits *left) {
  for (int p = begins[line], end = begins[line + 1]; p < end; p++) takeFrom(left + indices[p], values[p] * v);
}
REAL solveColumn(int line, __global const REAL *diagonal, __global const int *order, __global REAL *x, volatile __global Bits *left) {
  REAL s = asReal(left[line]), v = KIND == 1 ? s : s / diagonal[line];
  *(__global Bits *)(x + order[line]) = bitsOfResult(v);
  return v;
}

// Here `known` begins with the right-hand side, and `counts` with how many unknowns each one waits for.
__kernel void prepareColumns(int n, __global const int *order, __global const REAL *b, __global const int *waits, __global REAL *left, __global int *counts,
                             __global int *words) {
  int k = (int)get_global_id(0);
  if (k < 4) words[k] = 0;
  if (k >= n) return;
  left[k] = b[order[k]];
  counts[k] = waits[k];
}

LEVELS(solveColumnLevels, takeColumn(line, solveColumn(line, diagonal, order, x, known), begins, indices, values, known))

// A column, once its unknown waits for none.
void solveColumnWaiting(int line, int limit, ARGUMENTS, volatile __global int *counts) {
  for (int spins = 0;;) {
    if (counts[line] == 0) {
      FENCE;
      takeColumn(line, solveColumn(line, diagonal, order, x, known), begins, indices, values, known);
      FENCE;
      for (int p = begins[line], end = begins[line + 1]; p < end; p++) atomic_dec(counts + indices[p]);
      return;
    }
    if (isGivenUp(&spins, limit, words)) return;
  }
}

// SLFC.
__kernel void solveColumns(int n, int limit, ARGUMENTS, volatile __global int *counts) {
  __local int ticket;
  int id = (int)get_local_id(0), size = (int)get_local_size(0);
  for (;;) {
    if (id == 0) ticket = words[FAILED] ? n : atomic_add(words + TICKET, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    int start = ticket, line = start + id;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (start >= n) return;
    if (line < n) solveColumnWaiting(line, limit, PASSED, counts);
  }
}

// LEVC, one level.
__kernel void solveColumnLevel(int from, int to, ARGUMENTS) {
  int line = from + (int)get_global_id(0);
  if (line < to) takeColumn(line, solveColumn(line, diagonal, order, x, known), begins, indices, values, known);
}
#endif
#endif
