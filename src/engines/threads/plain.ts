import { EngineError } from "../../errors.ts";
import type { Format } from "../../types.ts";
import type { Entries } from "../kernels.ts";
import type { Kept, PlainFactors, PlainKernels, Scaling } from "../plain.ts";
import { ArenaFactors, copyTo } from "../wasm/plain.ts";
import * as jobs from "../wasm/plainJobs.ts";
import type { Pool } from "./pool.ts";

/** The plain kernels on a pool of threads. */
export class ThreadPlain implements PlainKernels {
  constructor(private readonly pool: Pool) {}

  async keep(routine: string, A: Entries, lasting: boolean): Promise<Kept> {
    const { arena } = this.pool;
    if (!lasting && arena.holds(A.data)) return { A, free() {} };
    const { at, free } = this.allocate(routine, A.rows * A.cols * A.data.BYTES_PER_ELEMENT);
    return { A: copyTo(arena, A, at), free };
  }

  magnitudes(_routine: string, A: Entries, scale: Float64Array, sums: Float64Array, largest: Float64Array): Promise<void> {
    return this.pool.run(jobs.magnitudesBytes(this.pool.arena, A), (space, job) => jobs.magnitudes(space, job, A, scale, sums, largest));
  }

  async factorize(
    routine: string,
    A: Entries,
    scaling: Scaling,
    format: Format,
    b: Float64Array,
    k: number,
    x: Float64Array,
  ): Promise<ArenaFactors> {
    const { arena } = this.pool;
    const shape = jobs.shapeOf(A.rows, A.cols, k, format);
    const { at, free } = this.allocate(routine, shape.bytes);
    try {
      const outcome = await this.pool.run(jobs.factorizeBytes(arena, A, shape), (space, job) =>
        jobs.factorize(space, job, A, scaling, b, x, shape, at),
      );
      return new ArenaFactors(arena, at, shape, format, outcome, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  substitute(_routine: string, factors: PlainFactors, b: Float64Array, k: number, x: Float64Array): Promise<void> {
    const { shape, at } = factors as ArenaFactors;
    return this.pool.run(jobs.substituteBytes(this.pool.arena, shape, k), (space, job) => jobs.substitute(space, job, shape, at, b, k, x));
  }

  residual(_routine: string, alpha: number, A: Entries, x: Float64Array, b: Float64Array, k: number, r: Float64Array): Promise<void> {
    const { arena, workers } = this.pool;
    return this.pool.run(jobs.residualBytes(arena, A, k, workers), (space, job) =>
      jobs.residual(space, job, alpha, A, x, b, k, r, workers),
    );
  }

  /**
   * P A = L U with partial pivoting of a binary32 matrix, rows by cols (no more than rows), row by row and in place. The first
   * column whose pivot is 0 or not finite, where nothing is written, or -1.
   */
  panel(data: Float32Array, rows: number, cols: number, pivots: Int32Array): Promise<number> {
    const shape = jobs.shapeOf(rows, cols, 0, "binary32");
    return this.pool.run(jobs.panelBytes(this.pool.arena, shape), (space, job) => jobs.panel(space, job, data, shape, pivots));
  }

  private allocate(routine: string, bytes: number): { at: number; free(): void } {
    const { arena } = this.pool;
    const at = arena.allocate(bytes, false);
    if (at === 0) throw new EngineError(`${routine}: no memory for ${bytes} bytes`);
    let held = true;
    const free = (): void => {
      if (held) arena.release(at);
      held = false;
    };
    return { at, free };
  }
}
