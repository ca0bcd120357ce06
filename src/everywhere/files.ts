// The part of the corpus that depends on the machine and not on the engine: files written and read, test problems, and measures.
import { matrix } from "../arrays/matrix.ts";
import { csc } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { readMatrixMarket, writeMatrixMarket } from "../files/matrixMarket.ts";
import { readNpy, writeNpy } from "../files/npy.ts";
import { convectionDiffusion } from "../problems/convectionDiffusion.ts";
import { elasticity } from "../problems/elasticity.ts";
import { illConditionedDot } from "../problems/illConditionedDot.ts";
import { illConditionedMatrix } from "../problems/illConditionedMatrix.ts";
import { illConditionedMatrixVector } from "../problems/illConditionedMatrixVector.ts";
import { illConditionedTriangular } from "../problems/illConditionedTriangular.ts";
import { laplacian } from "../problems/laplacian.ts";
import { powerLaw } from "../problems/powerLaw.ts";
import { skeelCondition } from "../problems/skeelCondition.ts";
import { factorizationError, residualNorm } from "../routines/dense/measures.ts";
import type { CorpusRow } from "./corpus.ts";
import { addMatrix } from "./dense.ts";
import type { Digest } from "./digest.ts";
import { grid, Inputs, KINDS, scattered } from "./inputs.ts";

function addLoaded(out: Digest, loaded: Real | Matrix<Float64Array> | Matrix<Float32Array> | Matrix | Sparse): void {
  if ("format" in loaded) addSparse(out, loaded);
  else if ("data" in loaded) addMatrix(out, loaded as Matrix);
  else out.array(loaded);
}

function addSparse(out: Digest, { rows, cols, pointers, indices, values }: Sparse): void {
  for (const part of [Int32Array.of(rows, cols), pointers, indices, values]) out.array(part);
}

/** The bytes of a .npy file with its numbers in the other byte order. */
function bigEndian(file: Uint8Array, width: number): Uint8Array {
  const copy = file.slice();
  const start = 10 + (copy[8] as number) + 256 * (copy[9] as number);
  for (let at = 10; at < start; at++) if (copy[at] === "<".charCodeAt(0)) copy[at] = ">".charCodeAt(0);
  for (let at = start; at < copy.length; at += width) copy.subarray(at, at + width).reverse();
  return copy;
}

const npy: CorpusRow = {
  async short(_, out) {
    for (const format of ["binary64", "binary32"] as const) {
      const inputs = new Inputs(71, format);
      for (const kind of KINDS) {
        const values = [inputs.vector(17, kind), inputs.matrix(5, 3, kind), inputs.matrix(4, 6, kind, "column"), inputs.vector(0, kind)];
        for (const value of values) {
          const file = writeNpy(value as Float64Array);
          out.array(file);
          for (const bytes of [file, bigEndian(file, format === "binary64" ? 8 : 4)]) addLoaded(out, readNpy(bytes));
        }
        const damaged = writeNpy(inputs.vector(3, kind));
        for (const at of [0, 6, 8, 20, 40]) {
          const bytes = damaged.slice();
          bytes[at] = (bytes[at] as number) ^ 0x41;
          await out.outcome(async () => addLoaded(out, readNpy(bytes)));
        }
      }
    }
  },
};

// Decimal numbers next to ties, beyond the range, with many digits; and what a reader must refuse.
const DECIMALS = [
  ...["0.1", "1e23", "9007199254740993", "-2.2250738585072011e-308", "4.9406564584124654e-324", "2.4703282292062327e-324", "-0", "1e-400"],
  ...["1.7976931348623158e308", "3", "+5.", ".5e1", "123456789012345678901234567890e-10", "8.5e-1", "1d2", "0x10", "1e", "nan", "inf"],
  "9007199254740992.99999999999999999999999999999999999999999",
];

const matrixMarket: CorpusRow = {
  async short(_, out) {
    const inputs = new Inputs(72, "binary64");
    const write = (A: Sparse | Matrix): string => [...writeMatrixMarket(A as Sparse)].join("");
    for (const kind of ["bits", "subnormal", "integers", "narrow"] as const)
      for (const A of [inputs.matrix(4, 3, kind), inputs.matrix(2, 5, kind, "column")]) {
        const text = write(A);
        out.word(text);
        addLoaded(out, await readMatrixMarket(text));
      }
    for (const A of [inputs.sparse(scattered(inputs.random, 12, 3), 9), inputs.sparse(grid(2, 27), 9)]) {
      const pieces = write(A).match(/.{1,7}|\n/g) as string[];
      out.word(pieces.join(""));
      addLoaded(out, await readMatrixMarket(pieces));
    }
    addLoaded(out, await readMatrixMarket(write(csc(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(1, 0), inputs.vector(2, "bits")))));
    for (const number of DECIMALS)
      for (const symmetry of ["general", "symmetric"])
        await out.outcome(async () =>
          addLoaded(out, await readMatrixMarket(`%%MatrixMarket matrix coordinate real ${symmetry}\n% a comment\n3 3 1\n2 1 ${number}\n`)),
        );
  },
};

const problems: CorpusRow = {
  async short(_, out) {
    for (const [seed, condition] of [1e3, 1e17, 1e40].entries()) {
      const { x, y, dot } = illConditionedDot(60, condition, seed);
      for (const part of [x, y, Float64Array.of(dot)]) out.array(part);
      const A = illConditionedMatrix(40, condition, seed);
      addMatrix(out, A);
      const product = illConditionedMatrixVector(12, condition, seed);
      addMatrix(out, product.A);
      out.array(product.x);
      out.number(residualNorm(A, x.subarray(0, 40), y.subarray(0, 40)));
      out.number(factorizationError(A, { lu: A, pivots: Int32Array.from({ length: 40 }, (_, i) => i) }));
    }
    const { T, b } = illConditionedTriangular(50, 1e12, 3);
    addMatrix(out, T);
    out.array(b);
    out.number(skeelCondition(matrix(T.data.slice(), 50, 50), b));
    for (const A of [laplacian(5, 4), laplacian(3, 4, 5, 27), elasticity(4, 3), elasticity(2, 3, 2), convectionDiffusion(4, 5, 3)])
      addSparse(out, A);
    addSparse(out, powerLaw(200, 900, 5));
  },
};

export const files: Readonly<Record<string, CorpusRow>> = {
  "files: .npy": npy,
  "files: Matrix Market": matrixMarket,
  "test problems": problems,
};
