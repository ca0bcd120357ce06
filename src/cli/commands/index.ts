// The list of subcommands, which run.ts and help.ts read.
import type { Command } from "../command.ts";
import { bench } from "./bench.ts";
import { doctor } from "./doctor.ts";
import { hash } from "./hash.ts";
import { bicgstab, cg, gmres } from "./iterative.ts";
import { lu } from "./lu.ts";
import { asum, dot, nrm2, sum } from "./reductions.ts";
import { report } from "./report.ts";
import { solve } from "./solve.ts";
import { spmv } from "./spmv.ts";
import { sptrsv } from "./sptrsv.ts";
import { covariance, mean, variance } from "./statistics.ts";
import { trsv } from "./trsv.ts";

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  sum,
  asum,
  dot,
  nrm2,
  mean,
  variance,
  covariance,
  solve,
  trsv,
  lu,
  spmv,
  sptrsv,
  cg,
  bicgstab,
  gmres,
  hash,
  doctor,
  bench,
  report,
];
