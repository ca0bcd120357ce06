// Commands under mpirun: the ranks of the job that this process belongs to. Rank 0 prints the result and writes files; of the ranks that
// fail, the first with a reason reports it. A process alone is a job without ranks.
import { HalfulpError } from "../../arrays/errors.ts";
import type { Backend } from "../../engines/backend.ts";
import { embedded } from "../../engines/embedded.ts";
import { onThisThread } from "../../engines/wasm/backend.ts";
import { type Context, isOfAnotherRank } from "../../ranks/context.ts";
import type { Communicator } from "../../ranks/mpi/communicator.ts";
import { launcher } from "../../ranks/mpi/library.ts";
import { type Arguments, JobError, type Outcome, UsageError } from "../command.ts";
import { partOf } from "../input/numbers.ts";
import type { Combine } from "./streamedSum.ts";

/** The processes that run a command. */
export interface Job {
  /** The ranks; undefined if this process is alone. */
  readonly context: Context | undefined;
  /** Their number, for --json. */
  readonly ranks: number | undefined;
  /** Run `body` on every rank. If it fails on one, it fails on all. */
  each<R>(body: () => R | Promise<R>): Promise<R>;
  /** The same on rank 0 only. The other ranks get undefined. */
  atRoot<R>(body: () => R | Promise<R>): Promise<R | undefined>;
}

const ALONE: Job = { context: undefined, ranks: undefined, each: async (body) => body(), atRoot: async (body) => body() };

const defaultBackend = async (): Promise<Backend> => onThisThread(embedded());

/**
 * Run a command on every rank of its job, or in this process alone. Work that may fail on some ranks only belongs in each() or atRoot().
 * `openBackend` opens the engine with which a rank computes; default: on this thread.
 */
export async function inJob<R>(
  body: (job: Job) => Promise<R>,
  openBackend: () => Promise<Backend | undefined> = defaultBackend,
): Promise<R> {
  if (launcher(process.env).size === 1) return body(ALONE);
  const [{ Communicator }, { Context }] = await Promise.all([import("../../ranks/mpi/communicator.ts"), import("../../ranks/context.ts")]);
  const comm = await Communicator.open(process.env.HALFULP_MPI);
  const each = <T>(work: () => T | Promise<T>): Promise<T> => onEach(comm, work);
  const atRoot = <T>(work: () => T | Promise<T>): Promise<T | undefined> => each(() => (comm.rank === 0 ? work() : undefined));
  let backend: Backend;
  try {
    backend = await each(async () => (await openBackend()) ?? (await defaultBackend()));
  } catch (error) {
    await comm.close();
    throw error;
  }
  const context = new Context(comm, backend);
  try {
    return await each(() => body({ context, ranks: comm.size, each, atRoot }));
  } finally {
    await context.close();
  }
}

// What ranks tell each other: that all is well, that the reason for an error is on this rank, or that it is on another one.
const [FINE, FAILED, ELSEWHERE] = [0, 1, 2];

async function onEach<R>(comm: Communicator, body: () => R | Promise<R>): Promise<R> {
  let result: R | undefined;
  let reason: unknown;
  let own = FINE;
  try {
    result = await body();
  } catch (error) {
    reason = error instanceof JobError ? error.reason : error;
    own = reason === undefined || isOfAnotherRank(reason) ? ELSEWHERE : FAILED;
  }
  const all = new Int32Array(Math.max(16, comm.size));
  await comm.gatherAll(Int32Array.of(own), all).wait();
  if (all.every((each) => each === FINE)) return result as R;
  const reporter = all.includes(FAILED) ? all.indexOf(FAILED) : all.indexOf(ELSEWHERE);
  throw new JobError(reporter === comm.rank ? (reason ?? new HalfulpError("the command failed on another rank")) : undefined);
}

/** Refuses operands that only one process can read. Call it before inJob(). */
export function checkFiles(name: string, files: readonly (string | undefined)[]): void {
  const { size } = launcher(process.env);
  if (size > 1 && files.includes("-")) throw new UsageError(`${name}: standard input cannot be read by ${size} ranks, expected a file`);
}

/** Refuses the choice of an engine, for a routine that has one way to compute on ranks. Call it before inJob(). */
export function checkNoEngine(name: string, args: Arguments): void {
  if (launcher(process.env).size === 1) return;
  for (const option of ["engine", "threads", "device"]) {
    const value = args.text(option);
    if (value !== undefined && !(option === "engine" && ["auto", "wasm"].includes(value)))
      throw new UsageError(`${name}: --${option} is "${value}", expected --engine wasm, the default, under mpirun`);
  }
}

/** What a rank returns, given what rank 0 prints. The number of ranks is only in --json. */
export function outcomeOf({ ranks }: Job, printed: Outcome | undefined, code: 0 | 1 = 0): Outcome {
  const { text = "", json = {} } = printed ?? {};
  return { text, json: { ...json, ranks }, code };
}

/** A vector of n elements, of which every rank has its part (partOf), as a whole on rank 0. */
export async function gathered({ comm }: Context, part: Float64Array, n: number): Promise<Float64Array> {
  const whole = new Float64Array(comm.rank === 0 ? n : 0);
  const partsOf = (rank: number) => ({ rank, data: whole.subarray(...partOf(n, { rank, size: comm.size })) });
  const receives = comm.rank === 0 ? Array.from({ length: comm.size }, (_, rank) => partsOf(rank)) : [];
  await comm.exchange([{ rank: 0, data: part }], receives).wait();
  return whole;
}

/** The sum over all ranks of what each has read. */
export function combineIn({ each }: Job, context: Context): Combine {
  return async (pass) => {
    const { sumOverRanks } = await import("../../ranks/level1.ts");
    const own = await each(pass);
    const { sum, lost, isEmpty } = await sumOverRanks(context, { sum: own.sum, lost: own.bound }, own.empty);
    const counts = BigInt64Array.of(BigInt(own.rows), BigInt(own.skipped));
    await context.comm.sum(counts).wait();
    return { sum, bound: lost, rows: Number(counts[0]), skipped: Number(counts[1]), empty: isEmpty };
  };
}
