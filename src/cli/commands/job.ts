// Commands under mpirun: the ranks of the job that this process belongs to, and how they compute one sum of several. Rank 0 prints the
// result, and of the ranks that fail the first prints its error.
import { embedded } from "../../engines/embedded.ts";
import { onThisThread } from "../../engines/wasm/backend.ts";
import { type Context, together } from "../../ranks/context.ts";
import type { Combine } from "./streamedSum.ts";

/** The job that mpirun has started; undefined if this process is alone. */
export async function openJob(): Promise<Context | undefined> {
  const { launcher } = await import("../../ranks/mpi/library.ts");
  if (launcher(process.env).size === 1) return undefined;
  const [{ Communicator }, { Context }] = await Promise.all([import("../../ranks/mpi/communicator.ts"), import("../../ranks/context.ts")]);
  return new Context(await Communicator.open(process.env.HALFULP_MPI), onThisThread(embedded()));
}

/** Run `body` so that a failure on one rank is one on all. */
export async function inJob<R>(job: Context | undefined, name: string, body: () => Promise<R>): Promise<R> {
  return job ? together(job, name, body, true) : body();
}

/** The sum over all ranks of what each has read. */
export function combineIn(job: Context, name: string): Combine {
  return async (pass) => {
    const { sumOverRanks } = await import("../../ranks/level1.ts");
    const own = await together(job, name, pass, true);
    const { sum, lost, isEmpty } = await sumOverRanks(job, { sum: own.sum, lost: own.bound }, own.empty);
    const counts = BigInt64Array.of(BigInt(own.rows), BigInt(own.skipped));
    await job.comm.sum(counts).wait();
    return { sum, bound: lost, rows: Number(counts[0]), skipped: Number(counts[1]), empty: isEmpty };
  };
}
