// The approximate kernels of solve() on a pool of threads: the jobs of wasm/jobs/approximate.ts, with factors and inverses in the
// memory of the pool. Part of the engine in threads/index.ts; the hybrid factorization of the OpenCL engine uses panel().

import type { StridedMatrix } from "../../arrays/matrix.ts";
import type { Format } from "../../arrays/types.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels, Scaling } from "../approximate.ts";
import type { Allocation } from "../memory.ts";
import { ArenaFactors, ArenaInverses, copyTo, once } from "../wasm/approximate.ts";
import * as jobs from "../wasm/jobs/approximate.ts";
import type { Pool } from "./pool.ts";

/** The approximate kernels on a pool of threads. */
export class ThreadApproximate implements ApproximateKernels {
  constructor(private readonly pool: Pool) {}

  /** EngineMemory.keepMatrix(). */
  async keepMatrix(routine: string, A: StridedMatrix, lasting: boolean): Promise<Allocation<StridedMatrix>> {
    const { arena } = this.pool;
    if (!lasting && arena.holds(A.data)) return { value: A, free() {} };
    const { at, free } = this.allocate(routine, A.rows * A.cols * A.data.BYTES_PER_ELEMENT);
    return { value: copyTo(arena, A, at), free };
  }

  magnitudes(_routine: string, A: StridedMatrix, scale: Float64Array, sums: Float64Array, largest: Float64Array): Promise<void> {
    return this.pool.run(jobs.magnitudesBytes(this.pool.arena, A), (space, job) => jobs.magnitudes(space, job, A, scale, sums, largest));
  }

  async factorize(
    routine: string,
    A: StridedMatrix,
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

  substitute(_routine: string, factors: ApproximateFactors, b: Float64Array, k: number, x: Float64Array): Promise<void> {
    const { shape, at } = factors as ArenaFactors;
    return this.pool.run(jobs.substituteBytes(this.pool.arena, shape, k), (space, job) => jobs.substitute(space, job, shape, at, b, k, x));
  }

  residual(_routine: string, alpha: number, A: StridedMatrix, x: Float64Array, b: Float64Array, k: number, r: Float64Array): Promise<void> {
    const { arena, workers } = this.pool;
    return this.pool.run(jobs.residualBytes(arena, A, k, workers), (space, job) =>
      jobs.residual(space, job, alpha, A, x, b, k, r, workers),
    );
  }

  async invert(routine: string, factors: ApproximateFactors): Promise<ArenaInverses> {
    const { arena, workers } = this.pool;
    const { shape, at } = factors as ArenaFactors;
    const toShape = jobs.shapeOf(shape.rows, shape.cols, 0, "binary64");
    const { at: to, free } = this.allocate(routine, toShape.bytes);
    try {
      await this.pool.run(jobs.invertBytes(arena, shape, workers), (space, job) =>
        jobs.invert(space, job, shape, at, toShape, to, workers),
      );
      return new ArenaInverses(arena, to, toShape, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  weigh(
    _routine: string,
    triangles: ApproximateFactors | ApproximateInverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): Promise<void> {
    const { shape, at } = triangles as ArenaFactors | ArenaInverses;
    return this.pool.run(jobs.weighBytes(shape), (space, job) => jobs.weigh(space, job, shape, at, part === "upper", v, out));
  }

  subtractModulo(_routine: string, C: StridedMatrix, P: Float64Array, Q: Float64Array, depth: number, p: number): Promise<void> {
    const { arena, workers } = this.pool;
    return this.pool.run(jobs.modularBytes(arena, C, depth, workers), (space, job) =>
      jobs.subtractModulo(space, job, C, P, Q, depth, p, workers),
    );
  }

  /**
   * P A = L U with partial pivoting, in place, of a binary32 matrix with rows >= cols, stored row by row. Returns -1, or the first column
   * whose pivot is 0 or not finite; then nothing is written.
   */
  panel(data: Float32Array, rows: number, cols: number, pivots: Int32Array): Promise<number> {
    const shape = jobs.shapeOf(rows, cols, 0, "binary32");
    return this.pool.run(jobs.panelBytes(this.pool.arena, shape), (space, job) => jobs.panel(space, job, data, shape, pivots));
  }

  private allocate(routine: string, bytes: number): { at: number; free(): void } {
    const at = this.pool.allocate(routine, bytes);
    return { at, free: once(() => this.pool.arena.release(at)) };
  }
}
