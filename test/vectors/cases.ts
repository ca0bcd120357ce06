// The shared conformance vectors as calls: what a line of these files asks of an engine, and the bits that it must return. For Node and for
// pages of a browser. Used by the conformance tests of every engine, and by test/webgpu/browser.
import { matrix } from "../../src/arrays/matrix.ts";
import type { Format, Matrix, Real } from "../../src/arrays/types.ts";
import type { AnyRoutines } from "../engines.ts";
import { fromHex, storedBits, toHex } from "../hex.ts";
import { solution } from "../oracles/system.ts";

/** The files, and how many lines each has. */
export const VECTOR_FILES = { "level1.jsonl": 1600, "matrices.jsonl": 420, "solve.jsonl": 540, "solve-ties.jsonl": 47 } as const;
export type VectorFile = keyof typeof VECTOR_FILES;

/** A call and its outcome, in words: the bits of all elements, pivots, the name of an error. */
export interface SharedCase {
  readonly op: keyof AnyRoutines;
  /** The file and the line, to be found again. */
  readonly name: string;
  readonly want: readonly string[];
  outcome(routines: AnyRoutines): Promise<string[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: a line of a file, with the properties of its operation
type Line = any;
type Calls = Pick<SharedCase, "want" | "outcome">;

const doubles = (hex: readonly string[]): Float64Array => Float64Array.from(hex, fromHex);
const square = (hex: readonly string[], n: number): Matrix => matrix(doubles(hex), n, n);

// What an error says that does not depend on words.
async function orError(call: () => Promise<string[]>): Promise<string[]> {
  try {
    return await call();
  } catch (error) {
    const { name, index } = error as { name: string; index?: number };
    if (name !== "SingularError") throw error;
    return [name, `column ${index}`];
  }
}

function reduction({ op, format, round, x, y, want }: Line): Calls[] {
  const vectorOf = (hex: readonly string[]): Real => ((format as Format) === "binary64" ? doubles(hex) : Float32Array.from(hex, fromHex));
  return [
    {
      want,
      outcome: async (routines) => {
        const v = vectorOf(x);
        const result = op === "exdot" ? routines.exdot(v, vectorOf(y), { round }) : routines[op as "exsum"](v, { round });
        return [toHex(await result)];
      },
    },
  ];
}

const CALLS: Record<string, (line: Line) => Calls[]> = {
  exsum: reduction,
  exasum: reduction,
  exdot: reduction,
  exnrm2: reduction,
  exgemv: ({ rows, cols, trans, alpha, beta, A, x, y, want }) => [
    {
      want,
      outcome: async ({ exgemv }) =>
        storedBits(await exgemv(fromHex(alpha), matrix(doubles(A), rows, cols), doubles(x), fromHex(beta), doubles(y), { trans })),
    },
  ],
  // Whatever is stored transposed.
  exgemm: ({ m, n, k, alpha, beta, A, B, C, want }) =>
    [false, true].flatMap((transA) =>
      [false, true].map((transB) => ({
        want,
        outcome: async ({ exgemm }: AnyRoutines) => {
          const left = transA ? matrix(byColumn(doubles(A), m, k), k, m) : matrix(doubles(A), m, k);
          const right = transB ? matrix(byColumn(doubles(B), k, n), n, k) : matrix(doubles(B), k, n);
          const product = await exgemm(fromHex(alpha), left, right, fromHex(beta), matrix(doubles(C), m, n), { transA, transB });
          return storedBits(product.data);
        },
      })),
    ),
  extrsv: ({ n, T, b, want, op: _, ...options }) => [
    { want, outcome: async ({ extrsv }) => storedBits(await extrsv(square(T, n), doubles(b), options)) },
  ],
  exlu: ({ rows, cols, A, want, pivots }) => [
    {
      want: want === null ? ["SingularError"] : [...want, ...pivots.map(String)],
      outcome: async ({ exlu }) => {
        const words = await orError(async () => {
          const factors = await exlu(matrix(doubles(A), rows, cols));
          return [...storedBits(factors.lu.data), ...Array.from(factors.pivots, String)];
        });
        return want === null ? words.slice(0, 1) : words; // the file does not tell the column
      },
    },
  ],
  solve: ({ n, A, b, want, index = want ? undefined : solution(n, doubles(A), doubles(b)) }) => [
    {
      want: want ? [...want, "certified", "converged"] : ["SingularError", `column ${index}`],
      outcome: async ({ solve }) => {
        const [left, right] = [square(A, n), doubles(b)];
        const words = await orError(async () => {
          const { x, certified, converged } = await solve(left, right);
          return [...storedBits(x), certified ? "certified" : "not certified", converged ? "converged" : "not converged"];
        });
        const isUnchanged = `${storedBits(left.data)} ${storedBits(right)}` === `${A} ${b}`;
        return isUnchanged ? words : [...words, "the system is not what it was"];
      },
    },
  ],
};

/** The cases of a file, given its text. */
export function sharedCases(file: VectorFile, text: string): SharedCase[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((json, i) => {
      const line = JSON.parse(json);
      const op: keyof AnyRoutines = line.op ?? "solve";
      return (CALLS[op] as (line: Line) => Calls[])(line).map((calls) => ({ ...calls, op, name: `${file}, line ${i + 1}, ${op}` }));
    });
}

// Row by row to column by column.
function byColumn(values: Float64Array, rows: number, cols: number): Float64Array {
  return Float64Array.from(values, (_, at) => values[(at % rows) * cols + Math.floor(at / rows)] as number);
}
