// The numbers of the ready examples, as text: the same on every machine, since the generators of the library are.
import { writeMatrixMarket } from "../../src/files/matrixMarket.ts";
import { illConditionedDot } from "../../src/problems/illConditionedDot.ts";
import { illConditionedMatrix } from "../../src/problems/illConditionedMatrix.ts";
import { laplacian } from "../../src/problems/laplacian.ts";
import { EXAMPLES } from "../try/operations.ts";

const list = (x: ArrayLike<number>): string => Array.from(x, String).join(", ");
const rows = (data: ArrayLike<number>, cols: number): string =>
  Array.from({ length: data.length / cols }, (_, i) => list(Array.from({ length: cols }, (_, j) => data[i * cols + j] as number))).join(
    "\n",
  );
const ones = (n: number): string => list(new Float64Array(n).fill(1));

const LCM_14 = 80313433200; // of 1 to 27: Hilbert's matrix of order 14 times this has integers
const ORDER = 14;

const NUMBERS: Readonly<Record<string, () => Record<string, string>>> = {
  lost: () => ({ x: "1e16, 3.14, -1e16" }),
  tenths: () => ({ x: list(new Float64Array(10).fill(0.1)) }),
  order() {
    const { x, y } = illConditionedDot(500, 1e18, 2);
    return { x: list(Array.from(x, (v, i) => v * (y[i] as number))) };
  },
  overflow: () => ({ x: "1e200, 1, -1e200", y: "1e200, 1, 1e200" }),
  orthogonal() {
    const { x, y } = illConditionedDot(60, 1e30, 1);
    return { x: list(x), y: list(y) };
  },
  tiny: () => ({ x: "3e-200, 4e-200" }),
  huge: () => ({ x: "3e190, 4e190" }),
  cancel: () => ({ A: "1e16, 1, -1e16\n1, 2, 3\n4, 5, 7", B: "1\n1\n1" }),
  hilbert() {
    const entry = (i: number, j: number): number => LCM_14 / (i + j + 1);
    const A = Array.from({ length: ORDER * ORDER }, (_, k) => entry(Math.floor(k / ORDER), k % ORDER));
    const b = Array.from({ length: ORDER }, (_, i) => A.slice(i * ORDER, (i + 1) * ORDER).reduce((s, v) => s + v)); // below 2^53: exact
    return { A: rows(A, ORDER), b: list(b) };
  },
  condition() {
    const { data, cols } = illConditionedMatrix(12, 1e20, 7);
    return { A: rows(data, cols), b: ones(cols) };
  },
  rump: () => ({ A: "64919121, -159018721\n41869520.5, -102558961", b: "1, 0" }),
  chain() {
    const n = 12;
    const A = Array.from({ length: n * n }, (_, k) => {
      const [i, j] = [Math.floor(k / n), k % n];
      return i === j ? 1 : i < 2 ? 0 : j === i - 1 ? 1e16 : j === i - 2 ? -1e16 : 0;
    });
    return { A: rows(A, n), b: ones(n) };
  },
  grid: () => ({ A: [...writeMatrixMarket(laplacian(8, 8))].join(""), b: ones(64) }),
};

/** The operands of an example. */
export async function example(name: string): Promise<Record<string, string>> {
  const numbers = Object.hasOwn(EXAMPLES, name) ? NUMBERS[name] : undefined;
  if (!numbers) throw new Error(`there is no example "${name}"`);
  return numbers();
}
