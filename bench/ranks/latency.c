/* The median time of MPI_Allreduce of one double, in microseconds: what bench/ranks.mjs compares exdot of short vectors with.
 *   mpirun -n 2 ./latency libmpich.so.12 | libmpi.so.40
 * The library is loaded by its name and declared here, so that a compiler is enough: header files are in other packages. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 5000

typedef void *handle; /* MPICH has integers of 32 bits, which are passed in the same registers */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static handle constant(void *library, const char *symbol, intptr_t mpich) {
  handle address = dlsym(library, symbol);
  return address ? address : (handle)mpich;
}

int main(int argc, char **argv) {
  static double times[CALLS];
  double x = 1, sum;
  int rank, size;
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!library) {
    fprintf(stderr, "latency: no library\n");
    return 1;
  }
  int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
  int (*comm_rank)(handle, int *) = (int (*)(handle, int *))dlsym(library, "MPI_Comm_rank");
  int (*comm_size)(handle, int *) = (int (*)(handle, int *))dlsym(library, "MPI_Comm_size");
  int (*allreduce)(const void *, void *, int, handle, handle, handle) =
      (int (*)(const void *, void *, int, handle, handle, handle))dlsym(library, "MPI_Allreduce");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  handle world = constant(library, "ompi_mpi_comm_world", 0x44000000);
  handle binary64 = constant(library, "ompi_mpi_double", 0x4c00080b);
  handle add = constant(library, "ompi_mpi_op_sum", 0x58000003);
  init(&argc, &argv);
  comm_rank(world, &rank);
  comm_size(world, &size);
  for (int i = 0; i < CALLS; i++) {
    double start = microseconds();
    allreduce(&x, &sum, 1, binary64, add, world);
    times[i] = microseconds() - start;
  }
  if (sum != size) {
    fprintf(stderr, "latency: the sum is %g, expected %d\n", sum, size);
    return 1;
  }
  qsort(times, CALLS, sizeof(double), ascending);
  if (rank == 0) printf("%.3f\n", times[CALLS / 2]);
  return finalize();
}
