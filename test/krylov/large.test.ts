// Systems of hundreds of unknowns and the matrices in shared/: the same on every engine, with the figures that are recorded here. The
// full suite computes all of them with the oracle again.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { elasticity, laplacian, powerLaw, readMatrixMarket, type Sparse, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { FULL } from "../effort.ts";
import { describeEngines, SELECTED_ENGINES } from "../engines.ts";
import { iterate, type Method, type Options } from "../oracles/krylov.ts";
import { hash } from "../problems/hash.ts";
import { fromEntries, solve } from "./cases.ts";

const random = new Random(7);
const right = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

interface System {
  readonly name: string;
  readonly A: Sparse;
  readonly b: Float64Array;
}
const system = (name: string, A: Sparse): System => ({ name, A, b: right(A.rows) });
const grid = system("5 points, 30 by 30", laplacian(30, 30));
const space = system("7 points, 9 by 8 by 7, by columns", toCsc(laplacian(9, 8, 7)));
const solid = system("elasticity, 14 by 13", elasticity(14, 13));
const web = system("a web of 500", powerLaw(500, 2500, 3));
const wind = system("convection, 20 by 20", convection(20, 20));

// Upwind differences: the wind blows to the right, and stronger further up.
function convection(nx: number, ny: number): Sparse {
  return fromEntries(nx * ny, (i, j) => {
    const [x, y] = [(j % nx) - (i % nx), Math.floor(j / nx) - Math.floor(i / nx)];
    const speed = 4 * (Math.floor(i / nx) / ny);
    if (x === 0 && y === 0) return 4 + speed;
    return Math.abs(x) + Math.abs(y) > 1 ? 0 : x < 0 ? -1 - speed : -1;
  });
}

/** How an iteration ended: why, after how many iterations, and a hash of x and the history. */
type Figures = readonly [reason: string, iterations: number, fingerprint: string];
interface Answered {
  readonly x: ArrayLike<number>;
  readonly reason: string;
  readonly iterations: number;
  readonly history: ArrayLike<number>;
}
const figures = ({ x, reason, iterations, history }: Answered): Figures => [
  reason,
  iterations,
  hash(Float64Array.from(x), Float64Array.from(history)),
];

const RECORDED: [System, Method, Options, ...Figures][] = [
  [grid, "cg", {}, "tolerance", 108, "c1905462a4ec2833"],
  [grid, "cg", { preconditioner: "ilu0" }, "tolerance", 38, "205533b3e1ad14fb"],
  [space, "cg", { preconditioner: "jacobi", tolerance: 1e-13 }, "tolerance", 57, "0e89d5b7c382c0ae"],
  [solid, "cg", { preconditioner: "jacobi" }, "tolerance", 173, "df2119143724f2a4"],
  [solid, "cg", { preconditioner: "ilu0", tolerance: 1e-17 }, "stagnation", 74, "45b4f865093180b4"],
  [solid, "bicgstab", { maxIterations: 60 }, "maxIterations", 60, "85865bd67935166e"],
  [wind, "bicgstab", {}, "tolerance", 52, "051802217b5ff12b"],
  [wind, "bicgstab", { preconditioner: "ilu0" }, "tolerance", 13, "acfcee9cf48d8c05"],
  [web, "bicgstab", { preconditioner: "jacobi" }, "tolerance", 7, "3aeedeb7054c2122"],
  [space, "gmres", { restart: 10 }, "tolerance", 68, "c856b6d01aeb31c3"],
  [wind, "gmres", {}, "tolerance", 136, "c5165db350d972b4"],
  [wind, "gmres", { preconditioner: "ilu0", restart: 5 }, "tolerance", 30, "d4a1b879388e3554"],
  [web, "gmres", { preconditioner: "jacobi" }, "tolerance", 13, "3bee75502f334650"],
];

// A file of shared/matrices, the method and the preconditioner, with a random b and 20 iterations.
const REAL: [string, Method, "none" | "jacobi" | "ilu0", ...Figures][] = [
  ["adder_dcop_05", "gmres", "none", "maxIterations", 20, "c0f89753e09b821c"],
  ["bcsstk13", "cg", "jacobi", "maxIterations", 20, "ff9f599774a681f7"],
  ["bcsstk13", "cg", "ilu0", "maxIterations", 20, "ff402daad9e96635"],
  ["cryg2500", "bicgstab", "jacobi", "maxIterations", 20, "d2fe3860d08a9824"],
  ["cryg2500", "gmres", "ilu0", "maxIterations", 20, "c0789dca88a7be33"],
  ["hangGlider_2", "bicgstab", "none", "maxIterations", 20, "c0673523882a009d"],
  ["mahindas", "gmres", "none", "maxIterations", 20, "c4657257655a6dae"],
  ["nnc1374", "bicgstab", "none", "maxIterations", 20, "ab6bd639621dcfd3"],
  ["rajat01", "gmres", "none", "maxIterations", 20, "12af9db636e6a55c"],
  ["reorientation_1", "cg", "none", "breakdown", 7, "909d22fd234e431c"],
  ["watt_2", "bicgstab", "ilu0", "maxIterations", 20, "db4f48e6bc71bbc0"],
  ["watt_2", "gmres", "jacobi", "maxIterations", 20, "b1299b2532e526b0"],
  ["west0479", "bicgstab", "none", "maxIterations", 20, "6a8db1f9e539edf6"],
];

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));

async function load(name: string): Promise<System> {
  const A = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
  const source = new Random(7);
  return { name, A, b: Float64Array.from({ length: A.rows }, () => source.signed()) };
}

const title = (name: string, method: Method, options: Options): string => `${method}, ${name}, ${JSON.stringify(options)}`;

describe("the figures are those of the oracle", () => {
  for (const [of, method, options, ...want] of RECORDED.filter(([of]) => FULL || of === web))
    test(title(of.name, method, options), () => {
      expect(figures(iterate(method, of.A, of.b, options))).toEqual(want);
    });
  for (const [name, method, preconditioner, ...want] of FULL && FOLDER ? REAL : [])
    test(title(name, method, { preconditioner }), async () => {
      const { A, b } = await load(name);
      expect(figures(iterate(method, A, b, { preconditioner, maxIterations: 20 }))).toEqual(want);
    });
});

describeEngines("larger systems", (routines, row) => {
  // In the quick suite some engines take turns; the reference engine is slow.
  const turn = row.name === "reference" ? -1 : SELECTED_ENGINES.indexOf(row);
  const isMine = (k: number): boolean => FULL || k === turn % REAL.length;

  test("have the same figures", async () => {
    for (const [k, [{ name, A, b }, method, options, ...want]] of RECORDED.entries())
      if (isMine(k)) expect(figures(await solve(routines, { method, A, b, options })), title(name, method, options)).toEqual(want);
  });

  test.skipIf(FOLDER === undefined)(`the matrices in shared/ too${FOLDER ? "" : " (which is not here)"}`, async () => {
    for (const [k, [name, method, preconditioner, ...want]] of REAL.entries()) {
      if (!isMine(k)) continue;
      const { A, b } = await load(name);
      const options = { preconditioner, maxIterations: 20 };
      expect(figures(await solve(routines, { method, A, b, options })), title(name, method, options)).toEqual(want);
    }
  });
});
