// The sparse part of the corpus: triangular solves in every schedule, products, and incomplete factors.
import { csc, csr, toCsc, toCsr } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { SCHEDULES } from "../engines/kernels.ts";
import type { SparseOptions } from "../routines/sparse/types.ts";
import type { CorpusRoutines, CorpusRow } from "./corpus.ts";
import { addMatrix } from "./dense.ts";
import type { Digest } from "./digest.ts";
import { arrow, grid, type Inputs, KINDS, type Kind, scattered } from "./inputs.ts";
import { inBothFormats } from "./level1.ts";

const BOTH = [false, true] as const;

function patterns(inputs: Inputs): Sparse[] {
  const small = [scattered(inputs.random, 60, 4), scattered(inputs.random, 25, 20), arrow(30), grid(4, 27)];
  return [inputs.sparse([], 1), inputs.sparse([[0]], 5), ...small.map((pattern) => inputs.sparse(pattern, 40))];
}

/** The same pattern with numbers of a kind. */
function filled(inputs: Inputs, A: Sparse, kind: Kind): Sparse {
  return (A.format === "csr" ? csr : csc)(A.rows, A.cols, A.pointers, A.indices, inputs.vector(A.values.length, kind));
}

async function solve(routines: CorpusRoutines, out: Digest, A: Sparse, b: Float64Array, options: SparseOptions): Promise<void> {
  await out.outcome(async () => {
    const plan = await routines.sptrsv(A, options);
    out.array(await plan.solve(b));
    await plan.free();
  });
}

const sptrsv = inBothFormats(21, "sptrsv", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const A of patterns(inputs))
      for (const uplo of ["lower", "upper"] as const)
        for (const trans of BOTH)
          for (const unit of BOTH) {
            const kind = KINDS[inputs.random.below(KINDS.length)] as Kind;
            await solve(routines, out, trans === unit ? A : toCsc(A), inputs.vector(A.rows, kind), { uplo, trans, unit });
          }
    const A = inputs.sparse(scattered(inputs.random, 80, 3), 30);
    for (const schedule of SCHEDULES) {
      const plan = await routines.sptrsv(A, { schedule });
      out.array(await plan.solve(inputs.vector(80, "wide")));
      addMatrix(out, await plan.solve(inputs.matrix(80, 3, "narrow", "column")));
      await plan.update(filled(inputs, A, "ones").values);
      out.array(await plan.solve(inputs.vector(80, "narrow")));
      await plan.free();
      await solve(routines, out, filled(inputs, A, "zeros"), inputs.vector(80, "narrow"), { schedule, uplo: "upper" }); // a zero on the diagonal
    }
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const A of [grid(14, 27), arrow(3000), scattered(inputs.random, 8000, 5)].map((pattern) => inputs.sparse(pattern, 60)))
      for (const schedule of SCHEDULES)
        for (const uplo of ["lower", "upper"] as const) await solve(routines, out, A, inputs.vector(A.rows, "narrow"), { schedule, uplo });
  },
}));

async function multiply(routines: CorpusRoutines, out: Digest, inputs: Inputs, A: Sparse, kind: Kind): Promise<void> {
  for (const trans of BOTH) {
    const [x, y] = [inputs.vector(A.rows, kind), inputs.vector(A.rows, kind)];
    out.array(await routines.exspmv(0.3, A, x, -1.5, y.slice(), { trans }));
    out.array(await routines.exspmv(1, A, x, 0, y, { trans }));
  }
}

const spmv = inBothFormats(22, "exspmv", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const A of patterns(inputs))
      for (const kind of KINDS)
        for (const form of [A, toCsc(A)]) await multiply(routines, out, inputs, kind === "ones" ? A : filled(inputs, form, kind), kind);
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const A of [grid(14, 27), arrow(20_000), scattered(inputs.random, 20_000, 6)].map((pattern) => inputs.sparse(pattern, 60)))
      for (const form of [A, toCsc(A)]) await multiply(routines, out, inputs, form, "wide");
  },
}));

const oblong = inBothFormats(24, "exspmv, not square", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    const A = csr(3, 7, Int32Array.of(0, 2, 2, 5), Int32Array.of(3, 0, 1, 2, 6), inputs.vector(5, "wide"));
    for (const form of [A, toCsc(A)]) {
      out.array(await routines.exspmv(2, form, inputs.vector(7, "wide"), 1, inputs.vector(3, "wide")));
      out.array(await routines.exspmv(2, form, inputs.vector(3, "wide"), 1, inputs.vector(7, "wide"), { trans: true }));
    }
  },
}));

async function factorize(routines: CorpusRoutines, out: Digest, A: Sparse): Promise<void> {
  await out.outcome(async () => {
    const { pointers, indices, values } = await routines.ilu0(A);
    for (const part of [pointers, indices, values]) out.array(part);
  });
}

const ilu0 = inBothFormats(23, "ilu0", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const A of patterns(inputs)) for (const form of [toCsr(A), toCsc(A)]) await factorize(routines, out, form);
    for (const kind of KINDS) await factorize(routines, out, toCsr(filled(inputs, inputs.sparse(grid(3, 7), 20), kind)));
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const pattern of [grid(12, 27), grid(22, 7), arrow(2000)]) {
      const A = inputs.sparse(pattern, 60);
      for (const form of [toCsr(A), toCsc(A)]) await factorize(routines, out, form);
    }
  },
}));

export const sparse: Readonly<Record<string, CorpusRow>> = { ...sptrsv, ...spmv, ...oblong, ...ilu0 };
