/* The median time of MPI_Allreduce of one double, in microseconds: what bench/ranks.mjs compares exdot of short vectors with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 5000

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static double times[CALLS];
  double x = 1, sum;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < CALLS; i++) {
    double start = MPI_Wtime();
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    times[i] = MPI_Wtime() - start;
  }
  qsort(times, CALLS, sizeof(double), ascending);
  if (rank == 0) printf("%.3f\n", 1e6 * times[CALLS / 2]);
  MPI_Finalize();
  return 0;
}
