/* How much faster several processes are than one where nothing is exchanged: the most that ranks can gain on this machine. bench/ranks.mjs
 * prints it beside the speed-ups of the routines.
 *   ./machine PROCESSES LENGTH
 * Two lines: the median milliseconds of a dot product of LENGTH doubles that are in no cache, and of multiply-adds in registers, each
 * divided evenly among the processes. A round ends when the slowest process does. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
#define STEPS 40000000 /* of multiply-adds */

typedef double four __attribute__((vector_size(32)));

static volatile int *arrived;
static volatile double sink;

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void meet(int processes, int *round) {
  int all = processes * ++*round;
  __sync_fetch_and_add(arrived, 1);
  while (*arrived < all) sched_yield();
}

static void read_parts(const four *x, const four *y, long n) {
  four a = {0}, b = {0}, c = {0}, d = {0};
  for (long i = 0; i < n; i += 4) {
    a += x[i] * y[i];
    b += x[i + 1] * y[i + 1];
    c += x[i + 2] * y[i + 2];
    d += x[i + 3] * y[i + 3];
  }
  a += b + c + d;
  sink = a[0] + a[1] + a[2] + a[3];
}

static void multiply(long n) {
  four s[8], x = {1.5, 1.25, 1.125, 1.0625}, y = {0.5, 0.25, 0.125, 0.0625};
  for (int k = 0; k < 8; k++) s[k] = x;
  for (long i = 0; i < n; i += 8)
    for (int k = 0; k < 8; k++) s[k] = s[k] * y + x;
  for (int k = 1; k < 8; k++) s[0] += s[k];
  sink = s[0][0];
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int processes = argc > 1 ? atoi(argv[1]) : 1, rank = 0, round = 0;
  long length = argc > 2 ? atol(argv[2]) : 16000000, part = length / processes / 16 * 4;
  arrived = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int k = 1; k < processes && rank == 0; k++)
    if (fork() == 0) rank = k;
  four *x = aligned_alloc(64, sizeof(four) * (part + 4)), *y = aligned_alloc(64, sizeof(four) * (part + 4));
  for (long i = 0; i < part + 4; i++) x[i] = y[i] = (four){1, 2, 3, 4};
  for (int kind = 0; kind < 2; kind++) {
    double times[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
      meet(processes, &round);
      double start = milliseconds();
      if (kind == 0) read_parts(x, y, part);
      else multiply(STEPS / processes);
      meet(processes, &round);
      times[k] = milliseconds() - start;
    }
    qsort(times, ROUNDS, sizeof(double), ascending);
    if (rank == 0) printf("%.3f\n", times[ROUNDS / 2]);
  }
  if (rank == 0)
    while (wait(NULL) > 0) continue;
  return 0;
}
