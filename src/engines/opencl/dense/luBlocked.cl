// Left-looking by blocks of W columns. For the block of columns from `first` on:
//   luProduct   sums over k < first for the rows from `first` on in these columns,
//   luColumn    the columns, each with its pivot and what is left of the sums,
//   luSwap      all rows where the pivots put them, in all columns at once,
//   luProduct   sums over k < first for these rows in the columns to the right,
//   luRow       U there, a row after another.
// Rows do not move while a block's pivots are found: each knows its position.

typedef struct {
  int rows, cols, first, width; // of the matrix and of the block
  int step, last;               // columns of the block that a launch of luColumn does
  int spins;                    // the most that a work-group waits for others
  int groups;                   // of luColumn
  int parts, length;            // in how many parts luProduct takes k, and how long they are
} Shape;

// The ints of a factorization. PIVOTS follow, then a position for every row, then pairs of rows to be moved.
#define INFO 2
#define TINY_SEEN 3 // some entry of L or U is tiny
#define MOVES 4
#define ARRIVED 5 // how often a work-group has come to a column
#define STUCK 6   // 1 + the first column of a block in which one has waited in vain
#define PIVOTS 8
#define POSITIONS(z) (PIVOTS + min((z).rows, (z).cols))
#define MOVED(z) (POSITIONS(z) + (z).rows)

// Its doubles: the columns of L in the block, column by column; the sums of the current one; U in the block; the sum of
// magnitudes in every column of U; candidates for the pivots of two columns in turn, two doubles each.
#define SUMS(z) ((size_t)W * (z).rows)
#define UPPER(z) (SUMS(z) + (z).rows)
#define SIZES(z) (UPPER(z) + W * W)
#define CANDIDATES(z) (SIZES(z) + (z).cols)

// A zero pivot ends it all, and so does an entry that overflowed, once the block of its column comes.
bool hasEnded(const __global int *out, Shape z) { return out[INFO] != 0 || out[STUCK] != 0 || ((const __global uint *)out)[1] < (uint)z.first; }

// Products -l u into a sum that starts at G = 1.5 * 2^e. While it stays in [2^e, 2^(e+1)), with h = 2^(e-53),
//   t = RN(s - l u), t - s exact, n = RN(l u + (t - s)), |n| <= h,
// and the exact sum is (s - G) - the sum of all n. |l| <= 1, so that sums in column j stay below S, the sum of |u_kj|.
// As computed S may be too small by N U = 2^-23, for N < 2^30 terms, and s drifts by N h = 2^(e-23) at most: with
// S (1 + 2^-20) < 2^(e-1) there is room for both.
double gridOf(double size) {
  int field = (int)(as_ulong(size * MORE) >> 52) + 2;
  return field > 1023 + 980 ? NAN : as_double(((ulong)max(field, 1023 - 900) << 52) | 0x8000000000000ul);
}

// What the parts of a product have made of an entry, with the entry itself. The sums (s - G) of the parts are on one
// grid, and so is their sum, which fits it: it is exact.
double startEntry(Filter *f, double a, const __global double *T, size_t area, size_t at, int parts) {
  double high = 0, bound = 0;
  *f = emptyFilter();
  f->sum = a;
  for (int q = 0; q < parts; q++, T += 3 * area) {
    high += T[at];
    f->rest -= T[area + at];
    f->size += fabs(T[area + at]);
    bound += T[2 * area + at];
  }
  addTerm(f, high);
  return bound * MORE;
}

// ---------------------------------------------------------------- settling

// Entry (i, j) from scratch, by the whole work-group: `before` products from A, then `within` of the block, l from L with
// a step of ldL and u from `column`. A filter, whose bound is far below that of the grid, and
// where that is not enough exactly, by one work-item.
typedef struct {
  double sum[GROUP], rest[GROUP], size[GROUP];
  uint least[2];
  double result;
  long accumulator[ACCUMULATOR];
} Settling;

double filteredSum(double sum, double rest, double size, double n, bool exactly) APART;
double filteredSum(double sum, double rest, double size, double n, bool exactly) {
  Filter f = {sum, rest, size, 0};
  return certified(sum, rest, boundOf(f, n, exactly));
}
double exactSum(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local long *accumulator) APART;
double exactSum(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local long *accumulator) {
  const __global REAL *row = A + (size_t)i * cols;
  for (int k = 0; k < ACCUMULATOR; k++) accumulator[k] = 0;
  addNumber(accumulator, row[j]);
  for (int k = 0; k < before; k++) addProduct(accumulator, -row[k], A[(size_t)k * cols + j]);
  for (int k = 0; k < within; k++) addProduct(accumulator, -L[k * ldL], column[k]);
  return rounded(accumulator);
}

double settled(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local Settling *w) TOGETHER;
double settled(const __global REAL *A, int cols, int i, int j, int before, const volatile __global double *L, size_t ldL, int within, const __local double *column, __local Settling *w) {
  const int lid = get_local_id(0);
  const __global REAL *row = A + (size_t)i * cols;
  if (lid == 0) w->least[0] = w->least[1] = 0xffffffffu;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  Filter f = emptyFilter();
  uint least[2] = {0xffffffffu, 0xffffffffu};
  if (lid == 0) f.sum = row[j];
  for (int k = lid; k < before + within; k += GROUP) {
    double l = k < before ? (double)row[k] : L[(k - before) * ldL], u = k < before ? (double)A[(size_t)k * cols + j] : column[k - before];
    addProductTerm(&f, -l, u);
    least[0] = leastOf(least[0], l);
    least[1] = leastOf(least[1], u);
  }
  atomic_min(&w->least[0], least[0]);
  atomic_min(&w->least[1], least[1]);
  w->sum[lid] = f.sum;
  w->rest[lid] = f.rest;
  w->size[lid] = f.size;
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
    double v = filteredSum(f.sum, f.rest, f.size, before + within + 2 * GROUP, BINARY32 || errorsAreExact(w->least[0], w->least[1]));
    w->result = v == v ? v : exactSum(A, cols, i, j, before, L, ldL, within, column, w->accumulator);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const double v = w->result;
  barrier(CLK_LOCAL_MEM_FENCE);
  return v;
}
