// The entry point "halfulp/mpi": vectors, matrices and systems that are spread over the ranks of an MPI job.
export { openRanks, type RankOptions, type Ranks } from "./ranks/ranks.ts";
export type { Distributed, DistributedFactors, DistributedLU, GridOptions } from "./ranks/types.ts";
