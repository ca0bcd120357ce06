// cg, bicgstab and gmres on every engine: x, iterations, history, residual and reason are those of the oracle, to the bit.
import { describe, expect, test } from "vitest";
import type { Matrix, Sparse } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, FULL, SEED } from "../effort.ts";
import { describeEngines, ENGINES, SELECTED_ENGINES } from "../engines.ts";
import type { Method, Reason } from "../oracles/krylov.ts";
import { range } from "../oracles/matrices.ts";
import {
  anyCase,
  type Case,
  caseOf,
  check,
  denseMatrix,
  fromEntries,
  isSparse,
  MATRICES,
  METHODS,
  PRECONDITIONERS,
  preconditioner,
  RIGHT_SIDES,
} from "./cases.ts";

// Every matrix by every method, with one preconditioner after the other; in the full suite with each of them.
const random = new Random(1);
const every = Object.entries(MATRICES).flatMap(([name, make], m) => {
  const A = make(random);
  const b = RIGHT_SIDES[name === "cyclic shift" ? "a unit vector" : "random"](random, A.rows);
  return METHODS.flatMap((method, k) =>
    PRECONDITIONERS.flatMap((kind, p) => {
      const M = preconditioner(kind, A);
      if (M === undefined || !(FULL || kind === "none" || (m + k) % 3 === p - 1)) return [];
      return [caseOf(name, method, A, b, { preconditioner: M, maxIterations: 30, restart: 12 })];
    }),
  );
});

const A = MATRICES["5 points"]?.(random) as Sparse;
const N = MATRICES.convection?.(random) as Sparse;
const b = RIGHT_SIDES.random(random, 20);
const x0 = RIGHT_SIDES.random(random, 20);
const { MAX_VALUE: MAX } = Number;
const options: Case[] = METHODS.flatMap((method) => [
  ...[0, 1, 2].map((maxIterations) => caseOf("convection", method, N, b, { maxIterations })),
  caseOf("5 points", method, A, b, { x0 }),
  caseOf("5 points", method, A, b, { x0: new Float64Array(20).fill(-0), maxIterations: 4 }),
  caseOf("5 points", method, A, b, { absolute: 0.1 }),
  caseOf("5 points", method, A, b, { absolute: 1e-9, tolerance: 0 }),
  caseOf("5 points", method, A, b, { tolerance: 2 }),
  caseOf("convection", method, N, b, { tolerance: 0, maxIterations: 60 }),
  caseOf("convection", method, N, b, { tolerance: 1e-17, maxRestarts: 0 }),
  caseOf("convection", method, N, b, { tolerance: 1e-17, maxRestarts: 1 }),
  caseOf("convection", method, N, b, { tolerance: 1e-17, restart: 4, preconditioner: "ilu0" }),
  caseOf("convection", method, N, b, { restart: 1, maxIterations: 30 }),
  caseOf("5 points, b of zeros", method, A, new Float64Array(20), { x0 }),
  caseOf(
    "no unknowns",
    method,
    fromEntries(0, () => 0),
    new Float64Array(0),
  ),
  caseOf(
    "no unknowns, dense",
    method,
    denseMatrix(0, () => 0),
    new Float64Array(0),
  ),
  caseOf("5 points, b past the range", method, A, new Float64Array(20).fill(MAX)),
  caseOf("5 points, b near the end of the range", method, A, new Float64Array(20).fill(2 ** 1020)),
  caseOf("5 points, x0 past the range", method, A, b, { x0: new Float64Array(20).fill(MAX) }),
  caseOf("5 points, b of the smallest numbers", method, A, new Float64Array(20).fill(Number.MIN_VALUE)),
  caseOf(
    "a diagonal that overflows",
    method,
    denseMatrix(2, (i, j) => (i === j ? MAX / (1 + 3 * i) : 0)),
    Float64Array.of(1, 1e-5),
  ),
  caseOf(
    "a diagonal that underflows",
    method,
    denseMatrix(2, (i, j) => (i === j ? Number.MIN_VALUE * (1 + i) : 0)),
    Float64Array.of(1, 2),
  ),
]);
const others = range(cases(600, 60)).map((k) => anyCase(new Random(SEED * 2 ** 16 + k)));

describe("the cases", () => {
  test("end in every way, by every method", () => {
    const seen = (method: Method): Set<Reason> =>
      new Set([...every, ...options].filter((of) => of.method === method).map(({ want }) => want.reason));
    for (const method of METHODS)
      expect([...seen(method)].sort()).toEqual(["breakdown", "maxIterations", "notFinite", "stagnation", "tolerance"]);
  });

  test("have matrices of every kind", () => {
    const stored = [...every].map(({ A }: { A: Sparse | Matrix }) => (isSparse(A) ? A.format : A.order));
    expect([...new Set(stored)].sort()).toEqual(["column", "csc", "csr", "row"]);
  });
});

describeEngines("iterative solvers", (routines, row) => {
  // The functions of the main module take all cases; in the quick suite other engines take turns.
  const place = ENGINES.indexOf(row);
  const step = row.name === "embedded" || ENGINES.length === 1 ? 1 : SELECTED_ENGINES.includes(row) ? 4 : 12;
  const mine = <T>(all: readonly T[]): T[] => all.filter((_, k) => FULL || (k + place) % step === 0);

  test("matrices of every kind, with every preconditioner", async () => {
    for (const of of mine(every)) await check(routines, of);
  });

  test("options, and numbers at the ends of the range", async () => {
    for (const of of mine(options)) await check(routines, of);
  });

  test(`random systems, HALFULP_SEED=${SEED}`, async () => {
    for (const of of mine(others)) await check(routines, of);
  });
});
