// A job of the WebAssembly kernels: a record in the arena that tells them what to do. The other files of this folder describe every routine
// as a job: the bytes it needs, and a generator that fills in the record and yields whenever the kernels should run. wasm/index.ts runs
// jobs on the calling thread, threads/pool.ts on a pool.

import type { Real } from "../../../arrays/types.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import type { MatrixLocation, Space } from "../space.ts";

/** The steps of a job: it yields whenever the kernels should run. */
export type JobSteps<R = void> = Generator<void, R, void>;

/** Starts a job that takes its memory from a space and uses one record. */
export type JobBody<R = void> = (space: Space, job: Job) => JobSteps<R>;

/** The record of a job, with its fields at the offsets of layout.ts. Fields that are not set are zero. */
export class Job {
  private readonly words: Int32Array;
  private readonly numbers: Float64Array;

  constructor(
    arena: Arena,
    at: number,
    private readonly workers: number,
  ) {
    this.words = new Int32Array(arena.buffer, at, layout.JOB_SIZE / 4);
    this.numbers = new Float64Array(arena.buffer, at, layout.JOB_SIZE / 8);
  }

  /** Clear the record for a kernel and the format of `like`. */
  start(kind: number, like: Real): this {
    this.words.fill(0);
    return this.set(layout.JOB_KIND, kind)
      .set(layout.JOB_SINGLE, like.BYTES_PER_ELEMENT === 4 ? 1 : 0)
      .set(layout.JOB_WORKERS, this.workers);
  }

  set(field: number, value: number): this {
    this.words[field / 4] = value;
    return this;
  }

  /** Set the location of a matrix: three adjacent fields. */
  matrix(field: number, { address, row, col }: MatrixLocation): this {
    return this.set(field, address)
      .set(field + 4, row)
      .set(field + 8, col);
  }

  scalars(alpha: number, beta: number): this {
    this.numbers[layout.JOB_ALPHA / 8] = alpha;
    this.numbers[layout.JOB_BETA / 8] = beta;
    return this;
  }

  get(field: number): number {
    return this.words[field / 4] as number;
  }
}
