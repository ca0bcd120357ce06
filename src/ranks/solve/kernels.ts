// The engine of solve() over ranks. The routine is the one of src/routines/solve, and every rank runs it: vectors are whole on every rank,
// matrices are spread by rows (rows.ts), and a kernel computes the rows of this rank with the rank's own engine, then puts the results of
// all ranks together. All ranks thus see the same numbers and take the same decisions.
//
// Factors are those of exlu (dense/lu.ts), each entry rounded once: better than ordinary factors, and it runs on ranks already. Corrections
// multiply by the inverses of the triangles, which the proof needs anyway: two exchanges, where substitution takes one for every block.
import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../arrays/operands.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels, Scaling } from "../../engines/approximate.ts";
import type { Distribution, HeldRows } from "../../engines/distribution.ts";
import type { Allocation, EngineMemory, Later } from "../../engines/memory.ts";
import type { AsyncKernels } from "../../engines/steps.ts";
import { type Context, together } from "../context.ts";
import { factorDistributed, substituteExactly } from "../dense/lu.ts";
import { DistributedMatrix, newPart } from "../dense/matrix.ts";
import { Layout } from "../grid.ts";
import { INVERSE_ROUNDINGS, invertTriangle, ROWS } from "./inverse.ts";
import { collectRows, hostRows, RowArray, rowArray, shareLists } from "./rows.ts";

/** How a matrix of order n is spread by rows. */
export function rowLayout(n: number, ranks: number): Layout {
  const blockSize = Math.max(1, Math.min(ROWS, Math.ceil(n / (4 * ranks))));
  return new Layout(n, n, blockSize, [ranks, 1]);
}

// |P F - L U| <= gamma |L| |U| with three roundings. Let s be the exact a_ij - sum l_ik u_kj of exlu. Above the diagonal u_ij = RN(s), off by
// at most u |u_ij|, and |u_ij| is a term of (|L| |U|)_ij because l_ii = 1. Below, l_ij = RN(RN(s) / u_jj): |s - l_ij u_jj| is at most
// (2 u + u^2) / (1 - u)^2 |l_ij| |u_jj|.
const LU_ROUNDINGS = 3;

/** Factors of a scaled matrix, and the inverses of both triangles once they are needed. */
class RankFactors implements ApproximateFactors, ApproximateInverses {
  readonly format = "binary64";
  inverses: Promise<{ readonly lower: RowArray; readonly upper: RowArray }> | undefined;

  constructor(
    readonly n: number,
    readonly column: number,
    readonly minPivot: number,
    readonly maxPivot: number,
    readonly lu: DistributedMatrix | undefined,
    readonly pivots: Int32Array,
    /** Whether substitution is exact, as that of LU.solve. */
    readonly isExact: boolean,
  ) {}

  readonly roundings = Math.max(LU_ROUNDINGS, INVERSE_ROUNDINGS);

  free(): void {
    this.lu?.free();
    const freeBoth = ({ lower, upper }: { readonly lower: RowArray; readonly upper: RowArray }): void => {
      lower.free();
      upper.free();
    };
    this.inverses?.then(freeBoth, () => undefined);
  }
}

/** The kernels of solve() for matrices of order n. */
export class RankKernels implements Distribution {
  readonly layout: Layout;
  readonly memory: EngineMemory;
  readonly approximate: ApproximateKernels;
  readonly distribution: Distribution = this;

  constructor(
    private readonly context: Context,
    n: number,
  ) {
    this.layout = rowLayout(n, context.comm.size);
    this.memory = {
      isOnHost: false,
      holdsPatterns: false,
      upload: unexpected,
      download: unexpected,
      keepMatrix: (routine, A, lasting) => this.keepMatrix(routine, A, lasting),
    };
    const { residual } = context.backend.approximate;
    this.approximate = {
      magnitudes: (routine, A, scale, sums, largest) => this.magnitudes(routine, A, scale, sums, largest),
      factorize: (routine, A, scaling, _format, b, k, x) => this.factorize(routine, A, scaling, b, k, x),
      substitute: (routine, factors, b, k, x) => this.substitute(routine, factors as RankFactors, b, k, x),
      invert: (_routine, factors) => this.invert(factors as RankFactors),
      weigh: (routine, triangles, part, v, out) => this.weigh(routine, triangles as RankFactors | Inverses, part, v, out),
      ...(residual && { residual: (routine, alpha, A, x, b, k, r) => this.residual(routine, alpha, A, x, b, k, r) }),
      subtractModulo: (routine, C, P, Q, depth, p) => this.subtractModulo(routine, C, P, Q, depth, p),
    };
  }

  /** As runAsync() takes them. The kernels that solve() does not call are missing. */
  get asKernels(): AsyncKernels {
    return this as unknown as AsyncKernels;
  }

  /** A matrix of order n, without its rows yet. */
  newMatrix(): RowArray {
    const { layout, context } = this;
    return new RowArray(
      Array.from({ length: context.comm.size }, (_, rank) => layout.rowsOn(rank)),
      layout.rows,
      layout.cols,
    );
  }

  /** Put rows of this rank into the memory of its engine. If one rank cannot, all throw. */
  async fill(routine: string, array: RowArray, data: Float64Array): Promise<void> {
    const rows = data.length / Math.max(1, array.cols);
    await together(this.context, routine, async () => {
      if (rows > 0) array.part = await this.context.backend.memory.keepMatrix(routine, rowMajor(data, rows, array.cols), true);
    });
  }

  private async keepMatrix(routine: string, A: StridedOperand, lasting: boolean): Promise<Allocation<StridedOperand>> {
    const array = rowArray(A);
    if (!lasting) return { value: A, free() {} };
    return this.keep(routine, new RowArray(array.lists, array.rows, array.cols), (await hostRows(this.context, array)).data);
  }

  private async keep(routine: string, array: RowArray, data: Float64Array): Promise<Allocation<StridedOperand>> {
    await this.fill(routine, array, data);
    return { value: array.operand, free: () => array.free() };
  }

  // ---------------------------------------------------------------- Distribution

  heldRows(A: StridedOperand): Promise<HeldRows> {
    return hostRows(this.context, rowArray(A));
  }

  async keepRows(routine: string, { rows, data }: HeldRows, total: number, cols: number): Promise<Allocation<StridedOperand>> {
    return this.keep(routine, new RowArray(await shareLists(this.context, rows), total, cols), data);
  }

  async shareRows({ rows, data }: HeldRows, total: number, cols: number): Promise<Float64Array> {
    return collectRows(this.context, await shareLists(this.context, rows), total, cols, (own) => own.set(data));
  }

  readRows(A: StridedOperand, rows: Int32Array): Promise<Float64Array> {
    const array = rowArray(A);
    const positions = array.positionsOf(rows);
    return collectRows(this.context, positions, rows.length, array.cols, async (own) => {
      const { data } = await hostRows(this.context, array);
      for (const [k, position] of (positions[this.context.comm.rank] as Int32Array).entries()) {
        const at = array.place(rows[position] as number) * array.cols;
        own.set(data.subarray(at, at + array.cols), k * array.cols);
      }
    });
  }

  readColumns(A: StridedOperand, first: number, width: number): Promise<Float64Array> {
    const array = rowArray(A);
    return collectRows(this.context, array.lists, array.rows, width, async (own) => {
      const { rows, data } = await hostRows(this.context, array);
      for (let k = 0; k < rows.length; k++) own.set(data.subarray(k * array.cols + first, k * array.cols + first + width), k * width);
    });
  }

  async maximum(values: Float64Array): Promise<void> {
    const words = new BigInt64Array(new ArrayBuffer(8 * values.length));
    const numbers = new Float64Array(words.buffer);
    numbers.set(values);
    flipNegative(words);
    await this.context.comm.max(words).wait();
    flipNegative(words);
    values.set(numbers);
  }

  async throwTogether(error: unknown): Promise<void> {
    await together(this.context, "solve", () => {
      if (error !== undefined) throw error;
    });
  }

  exactFactors(routine: string, { data }: HeldRows, n: number): Promise<ApproximateFactors> {
    return this.factorRows(routine, n, true, (part) => part.set(data));
  }

  // ---------------------------------------------------------------- exact products

  /** y := alpha A x + beta y for a matrix over ranks. */
  async gemv(alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): Promise<void> {
    await this.multiply(A, y as Float64Array, 1, (part, own) => this.context.backend.gemv(alpha, part, x, beta, own));
  }

  /** C := alpha A B + beta C for a matrix A over ranks and whole B and C; or for rows of this rank, all in its own memory. */
  async gemm(alpha: number, A: StridedOperand, B: StridedOperand, beta: number, C: StridedOperand): Promise<void> {
    const { backend } = this.context;
    if (isOnHost(A.data)) {
      await together(this.context, "solve", async () => {
        if (C.rows > 0 && C.cols > 0) await backend.gemm(alpha, A, B, beta, C);
      });
      return;
    }
    await this.multiply(A, C.data as Float64Array, C.cols, (part, own) =>
      backend.gemm(alpha, part, B, beta, rowMajor(own, part.rows, C.cols)),
    );
  }

  // y, as many rows as A by k, is what `compute` makes of the rows of each rank.
  private async multiply(
    A: StridedOperand,
    y: Float64Array,
    k: number,
    compute: (part: StridedOperand, own: Float64Array) => Later<void>,
  ): Promise<void> {
    const array = rowArray(A);
    const rows = array.lists[this.context.comm.rank] as Int32Array;
    const all = await collectRows(this.context, array.lists, array.rows, k, (own) => {
      for (const [r, row] of rows.entries()) own.set(y.subarray(row * k, (row + 1) * k), r * k);
      return compute((array.part as Allocation<StridedOperand>).value, own);
    });
    y.set(all);
  }

  // ---------------------------------------------------------------- ordinary arithmetic

  private async residual(
    routine: string,
    alpha: number,
    A: StridedOperand,
    x: Float64Array,
    b: Float64Array,
    k: number,
    r: Float64Array,
  ): Promise<void> {
    const { approximate } = this.context.backend;
    r.set(b);
    await this.multiply(A, r, k, (part, own) => approximate.residual?.(routine, alpha, part, x, own.slice(), k, own));
  }

  private async magnitudes(
    routine: string,
    A: StridedOperand,
    scale: Float64Array,
    sums: Float64Array,
    largest: Float64Array,
  ): Promise<void> {
    const array = rowArray(A);
    const { approximate } = this.context.backend;
    const rows = array.lists[this.context.comm.rank] as Int32Array;
    if (A.colStride === 1) {
      const all = await collectRows(this.context, array.lists, array.rows, 2, async (own) => {
        const [ownSums, ownLargest] = [new Float64Array(rows.length), new Float64Array(rows.length)];
        await approximate.magnitudes(routine, (array.part as Allocation<StridedOperand>).value, scale, ownSums, ownLargest);
        for (let r = 0; r < rows.length; r++) own.set([ownSums[r] as number, ownLargest[r] as number], 2 * r);
      });
      for (let i = 0; i < array.rows; i++) [sums[i], largest[i]] = [all[2 * i] as number, all[2 * i + 1] as number];
      return;
    }
    // Columns: solve() asks for the largest magnitudes only, of a finite matrix. Their sums stay 0.
    await together(this.context, routine, async () => {
      const part = array.part?.value;
      const transposed = part && { ...part, rows: part.cols, cols: part.rows, rowStride: part.colStride, colStride: part.rowStride };
      const own = Float64Array.from(rows, (row) => scale[row] as number);
      if (transposed) await approximate.magnitudes(routine, transposed, own, new Float64Array(array.cols), largest);
      else largest.fill(0);
    });
    await this.maximum(largest);
    sums.fill(0);
  }

  private async factorize(
    routine: string,
    A: StridedOperand,
    { rows, cols }: Scaling,
    b: Float64Array,
    k: number,
    x: Float64Array,
  ): Promise<ApproximateFactors> {
    const { n, data } = { n: A.rows, ...(await this.heldRows(A)) };
    const own = this.layout.rowsOn(this.context.comm.rank);
    const factors = await this.factorRows(routine, n, false, (part) => {
      for (const [r, row] of own.entries())
        for (let j = 0; j < n; j++) part[r * n + j] = (data[r * n + j] as number) * (rows[row] as number) * (cols[j] as number);
    });
    if (k > 0 && factors.column < 0) await this.substitute(routine, factors, b, k, x);
    return factors;
  }

  // P F = L U of the matrix whose rows on this rank `fill` writes.
  private async factorRows(routine: string, n: number, isExact: boolean, fill: (part: Float64Array) => void): Promise<RankFactors> {
    const { context, layout } = this;
    const part = await together(context, routine, () => newPart(context, layout));
    fill(part);
    const F = new DistributedMatrix(context, layout, part);
    let isDone = false;
    try {
      const found = await factorDistributed(context, F);
      if ("column" in found) return new RankFactors(n, found.column, 0, 0, undefined, new Int32Array(0), isExact);
      const pivots = Float64Array.of(Number.NEGATIVE_INFINITY, 0); // minus the smallest, and the largest
      for (const [r, row] of layout.rowsOn(context.comm.rank).entries()) {
        const size = Math.abs(part[r * n + row] as number);
        pivots[0] = Math.max(pivots[0] as number, -size);
        pivots[1] = Math.max(pivots[1] as number, size);
      }
      await this.maximum(pivots);
      isDone = true;
      return new RankFactors(n, -1, -(pivots[0] as number), pivots[1] as number, F, found.pivots, isExact);
    } finally {
      if (!isDone) F.free();
    }
  }

  private async inversesOf(routine: string, factors: RankFactors) {
    const invert = async (upper: boolean): Promise<RowArray> => {
      const array = this.newMatrix();
      await this.fill(routine, array, await invertTriangle(this.context, factors.lu as DistributedMatrix, upper));
      return array;
    };
    const both = async () => ({ lower: await invert(false), upper: await invert(true) });
    factors.inverses ??= both();
    return factors.inverses;
  }

  private async substitute(routine: string, factors: RankFactors, b: Float64Array, k: number, x: Float64Array): Promise<void> {
    const { n, pivots } = factors;
    if (factors.isExact) {
      for (let c = 0; c < k; c++) {
        const column = Float64Array.from({ length: n }, (_, i) => b[i * k + c] as number);
        const solved = await substituteExactly(this.context, factors.lu as DistributedMatrix, pivots, column);
        for (let i = 0; i < n; i++) x[i * k + c] = solved[i] as number;
      }
      return;
    }
    const right = b.slice();
    for (const [i, pivot] of pivots.entries()) {
      if (pivot === i) continue;
      const row = right.slice(i * k, (i + 1) * k);
      right.copyWithin(i * k, pivot * k, (pivot + 1) * k);
      right.set(row, pivot * k);
    }
    const { lower, upper } = await this.inversesOf(routine, factors);
    const y = new Float64Array(n * k);
    await this.timesTriangle(routine, lower, right, k, y);
    await this.timesTriangle(routine, upper, y, k, x);
  }

  // In ordinary arithmetic where the engine has it, which half of a matrix of zeros does not slow down.
  private async timesTriangle(routine: string, T: RowArray, v: Float64Array, k: number, out: Float64Array): Promise<void> {
    if (this.approximate.residual) await this.approximate.residual(routine, 1, T.operand, v, new Float64Array(v.length), k, out);
    else if (k === 1) await this.gemv(1, T.operand, v, 0, out);
    else await this.gemm(1, T.operand, rowMajor(v, T.cols, k), 0, rowMajor(out, T.rows, k));
  }

  private async invert(factors: RankFactors): Promise<ApproximateInverses> {
    const { n, roundings } = factors;
    return new Inverses(n, roundings, await this.inversesOf("solve", factors));
  }

  private async weigh(
    routine: string,
    triangles: RankFactors | Inverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): Promise<void> {
    if (triangles instanceof Inverses) {
      await this.magnitudes(routine, triangles.both[part].operand, v, out, new Float64Array(v.length));
      return;
    }
    const { n, lu } = triangles;
    const { context, layout } = this;
    const lists = Array.from({ length: context.comm.size }, (_, rank) => layout.rowsOn(rank));
    const { data } = (lu as DistributedMatrix).entries;
    const all = await collectRows(context, lists, n, 1, (own) => {
      for (const [r, row] of (lists[context.comm.rank] as Int32Array).entries()) {
        const [from, to] = part === "lower" ? [0, row] : [row, n];
        let sum = part === "lower" ? (v[row] as number) : 0;
        for (let j = from; j < to; j++) sum += Math.abs(data[r * n + j] as number) * (v[j] as number);
        own[r] = sum;
      }
    });
    out.set(all);
  }

  private async subtractModulo(
    routine: string,
    C: StridedOperand,
    P: Float64Array,
    Q: Float64Array,
    depth: number,
    p: number,
  ): Promise<void> {
    const array = rowArray(C);
    const { approximate } = this.context.backend;
    await together(this.context, routine, async () => {
      if (!array.part) return;
      const own = newVector(routine, P, array.part.value.rows * depth);
      for (const [r, row] of (array.lists[this.context.comm.rank] as Int32Array).entries())
        own.set(P.subarray(row * depth, (row + 1) * depth), r * depth);
      await approximate.subtractModulo(routine, array.part.value, own, Q, depth, p);
    });
  }
}

// The bits of numbers, as integers, are in the order of the numbers once those of negative numbers are inverted, but for the sign.
function flipNegative(words: BigInt64Array): void {
  for (let i = 0; i < words.length; i++) if ((words[i] as bigint) < 0n) words[i] = (words[i] as bigint) ^ 0x7fffffffffffffffn;
}

/** The inverses of factors, which own them. */
class Inverses implements ApproximateInverses {
  constructor(
    readonly n: number,
    readonly roundings: number,
    readonly both: { readonly lower: RowArray; readonly upper: RowArray },
  ) {}

  free(): void {}
}

function unexpected(): never {
  throw new Error("halfulp: solve() over ranks keeps vectors on the host");
}
