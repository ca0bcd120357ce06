// What follows a reduction of the iterative solvers, on the device: the certificate of its sum, the scalars of the recurrence, the test.
// The twin of Recurrence in engines/krylov.ts. Included in front of reductions/reduce.cl, whose last work-item calls it; layout.ts has the
// places of the state and the numbers of the cases.

// Whether updates take place: see When in engines/krylov.ts.
bool isRunning(volatile __global const double *state) { return state[STATUS] == RUNNING; }
bool takesPlace(volatile __global const double *state, int when, int iteration) {
  double status = state[STATUS];
  if (when == HALF_ONLY) return status == HALF && state[AT] == iteration;
  return status == RUNNING || (when == PASSED && status == TOLERANCE && state[AT] == iteration);
}

// RN of the square root of high + low, which is within `bound` of the exact sum, or NaN. The twin of roundRootEnclosure in
// exact/enclosure.ts, with its proof.
double certifiedRoot(double high, double low, double bound) {
  double h = high + low, l = twoSumError(high, low, h);
  if (h == 0 && l == 0 && bound == 0) return 0.0;
  if (!(h > SMALL && h < LARGE && bound < h * 0x1p-40)) return NOT_PROVED;
  double r = sqrt(h), rest = fma(-r, r, h) + l, d = rest / (2 * r);
  double underflow = bound == 0 && rest == 0 ? 0.0 : 4 * 0x1p-1074;
  double error = 0.51 * bound * MORE / r + underflow + 0x1p-51 * fabs(d) + 2 * d * d / r;
  return certified(r, d, error);
}

// a and b become their rounded sum and its error.
void addPair(double *a, double *b) {
  double s = *a + *b;
  *b = twoSumError(*a, *b, s);
  *a = s;
}

// The sum of four levels, or its root, or NaN if `bound` does not decide it. Two sweeps of TwoSum leave the first level within a few units
// of the last place of the sum, whatever cancels; what the additions of the rest lose is added to the bound, and is 0 if they are exact.
double provedSum(double *level, double bound, bool root) {
  for (int sweep = 0; sweep < 2; sweep++)
    for (int k = 2; k >= 0; k--) addPair(level + k, level + k + 1);
  double t = level[2], e = level[3];
  addPair(&t, &e);
  double low = level[1];
  addPair(&low, &t);
  double lost = fabs(e) + fabs(t);
  double total = lost == 0 ? bound : (bound + lost) * MORE;
  return root ? certifiedRoot(level[0], low, total) : certified(level[0], low, total);
}

void end(volatile __global double *state, double status, int iteration) {
  state[STATUS] = status;
  state[AT] = iteration;
}
void breakUnless(volatile __global double *state, bool condition, int iteration) {
  if (!condition) end(state, BREAKDOWN, iteration);
}
void record(volatile __global double *state, double norm) {
  int count = (int)state[NORM_COUNT];
  state[NORMS + count] = norm;
  state[NORM_COUNT] = count + 1;
}

// `sequence` is the number of the operation: if its sum is not proved, the host continues from there. So v is finite here: what the
// recurrence does with other numbers is left to the host.
void finishReduction(volatile __global double *state, double v, int finish, int iteration, int sequence) {
  if (v != v) {
    end(state, UNDECIDED, iteration);
    state[SEQUENCE] = sequence;
    return;
  }
  double rho = state[RHO], alpha, omega, beta;
  switch (finish) {
    case FINISH_RHO:
    case FINISH_BICG_RHO:
      state[RHO] = v;
      break;
    case FINISH_TS:
      state[TS] = v;
      break;
    case FINISH_CG_ALPHA:
      state[ALPHA] = rho / v;
      breakUnless(state, v > 0, iteration);
      break;
    case FINISH_CG_BETA:
      state[BETA] = v / rho;
      state[RHO] = v;
      break;
    case FINISH_BICG_ALPHA:
      alpha = rho / v;
      state[ALPHA] = alpha;
      breakUnless(state, v != 0 && isfinite(alpha), iteration);
      break;
    case FINISH_BICG_HALF:
      if (v <= state[BOUND]) {
        record(state, v);
        end(state, HALF, iteration);
      }
      break;
    case FINISH_OMEGA:
      omega = state[TS] / v;
      state[OMEGA] = omega;
      breakUnless(state, v != 0 && isfinite(state[TS]) && isfinite(omega), iteration);
      break;
    case FINISH_TEST:
    case FINISH_BICG_TEST:
      record(state, v);
      if (v <= state[BOUND]) end(state, TOLERANCE, iteration);
      break;
    case FINISH_BICG_BETA:
      beta = (v / rho) * (state[ALPHA] / state[OMEGA]);
      state[BETA] = beta;
      breakUnless(state, rho != 0 && state[OMEGA] != 0 && isfinite(beta), iteration);
      state[RHO] = v;
      break;
    default:
      state[EXTRA + finish - FINISH_EXTRA] = v;
  }
}
