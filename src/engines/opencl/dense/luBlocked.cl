// Left-looking factorization by blocks of W columns, launched by luBlocked.ts. For the block of columns from `first`:
//   luProduct   sums over k < first in these columns, for the rows from `first`,
//   luColumn    the columns: the rest of the sums, and the pivot of each,
//   luSwap      moves all rows to where the pivots put them, in all columns at once,
//   luProduct   sums over k < first in the columns to the right, for the rows of the block,
//   luRow       U there, row by row.
// Rows do not move while the pivots of a block are chosen: each row has a position.

typedef struct {
  int rows, cols, first, width; // of the matrix and of the block
  int step, last;               // the columns of the block in this launch of luColumn
  int spins;                    // looks after which a wait for other work-groups is abandoned
  int groups;                   // of luColumn
  int parts, length;            // parts into which luProduct divides k, and their length
  int right, end;               // of the columns to the right of the block, those from `right` to end - 1
} Shape;

// The integer state of a factorization is that of luLayout.ts. The pivots are followed by the position of each row and by pairs of
// rows to be moved.
#define POSITIONS(z) (PIVOTS + min((z).rows, (z).cols))
#define MOVED(z) (POSITIONS(z) + (z).rows)

// Its binary64 state: the sum of magnitudes of each column of U; the sums of the current column; L in the block, by columns; U in the
// block; the pivot candidates of each of its columns (see luColumn.cl).
#define SIZES(z) ((size_t)0)
#define SUMS(z) ((size_t)(z).cols)
#define LOWER(z) (SUMS(z) + (z).rows)
#define UPPER(z) (LOWER(z) + (size_t)W * (z).rows)
#define CANDIDATES(z) (UPPER(z) + W * W)

// A zero pivot ends the factorization, and so does an entry that overflowed in a column before this block. Rows of U may be computed while
// the next block is factored: what ends there does not end them.
bool endedBefore(int column, Shape z) { return column != 0 && column <= z.first + z.width; }
bool hasEnded(const __global int *out, Shape z) {
  return endedBefore(out[INFO], z) || endedBefore(out[STUCK], z) || ((const __global uint *)out)[1] < (uint)z.first;
}

// What an entry starts with: its value, and its sums from the parts of luProduct. The sums (s - G) of the parts are on one grid, which
// their total fits: `high` is exact. `bound` is what the parts lost.
typedef struct {
  double a, high, rest, size, bound;
} Start;
#define NO_START ((Start){0, 0, 0, 0, 0})

Start startOf(double a, const __global double *T, size_t area, size_t at, int parts) {
  Start s = {a, 0, 0, 0, 0};
  for (int q = 0; q < parts; q++, T += 3 * area) {
    s.high += T[at];
    s.rest -= T[area + at];
    s.size += fabs(T[area + at]);
    s.bound += T[2 * area + at];
  }
  return s;
}

double startWith(Filter *f, Start s) {
  *f = emptyFilter();
  f->sum = s.a;
  f->rest = s.rest;
  f->size = s.size;
  addTerm(f, s.high);
  return s.bound * MORE;
}

// Entry (i, j) from the start, by the first GROUP work-items of a work-group, in which all take part: `before` products from A, then `within` from the block, l from L with stride
// ldL and u from `column`. First with a filter, whose bound is far below that of the grid; if that is not enough, exactly, by one
// work-item.
typedef struct {
  double sum[GROUP], rest[GROUP], size[GROUP];
  uint minWord[2];
  double result;
  long accumulator[ACCUMULATOR];
} Settling;

double filteredSum(double sum, double rest, double size, double n, bool exactly) NOT_INLINED;
double filteredSum(double sum, double rest, double size, double n, bool exactly) {
  Filter f = {sum, rest, size, 0};
  return certified(sum, rest, boundOf(f, n, exactly));
}
double exactSum(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local long *accumulator) NOT_INLINED;
double exactSum(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local long *accumulator) {
  const __global REAL *row = A + (size_t)i * cols;
  for (int k = 0; k < ACCUMULATOR; k++) accumulator[k] = 0;
  addNumber(accumulator, row[j]);
  for (int k = 0; k < before; k++) addProduct(accumulator, -row[k], A[(size_t)k * cols + j]);
  for (int k = 0; k < within; k++) addProduct(accumulator, -L[k * ldL], column[k]);
  return rounded(accumulator);
}

double settled(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local Settling *w) WITH_BARRIERS;
double settled(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local Settling *w) {
  const int lid = get_local_id(0);
  const __global REAL *row = A + (size_t)i * cols;
  if (lid == 0) w->minWord[0] = w->minWord[1] = 0xffffffffu;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  Filter f = emptyFilter();
  uint minWord[2] = {0xffffffffu, 0xffffffffu};
  if (lid == 0) f.sum = row[j];
  for (int k = lid; k < before + within && lid < GROUP; k += GROUP) {
    double l = k < before ? (double)row[k] : L[(k - before) * ldL], u = k < before ? (double)A[(size_t)k * cols + j] : column[k - before];
    addProductTerm(&f, -l, u);
    minWord[0] = minWordOf(minWord[0], l);
    minWord[1] = minWordOf(minWord[1], u);
  }
  atomic_min(&w->minWord[0], minWord[0]);
  atomic_min(&w->minWord[1], minWord[1]);
  if (lid < GROUP) {
    w->sum[lid] = f.sum;
    w->rest[lid] = f.rest;
    w->size[lid] = f.size;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = GROUP / 2; stride > 0; stride /= 2) {
    if (lid < stride) {
      Filter g = {w->sum[lid + stride], w->rest[lid + stride], w->size[lid + stride], 0};
      addFilter(&f, g);
      w->sum[lid] = f.sum;
      w->rest[lid] = f.rest;
      w->size[lid] = f.size;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    double v = filteredSum(f.sum, f.rest, f.size, before + within + 2 * GROUP, BINARY32 || errorsAreExact(w->minWord[0], w->minWord[1]));
    w->result = v == v ? v : exactSum(A, cols, i, j, before, L, ldL, within, column, w->accumulator);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const double v = w->result;
  barrier(CLK_LOCAL_MEM_FENCE);
  return v;
}
