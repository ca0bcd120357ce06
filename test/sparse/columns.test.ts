// Plans with many right-hand sides on every engine and by every schedule: each column has the bits that the reference engine returns for it
// alone, whatever its neighbours are.

import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import { csr } from "../../src/arrays/sparse.ts";
import type { Matrix, Real } from "../../src/arrays/types.ts";
import { kernels, Random, routinesOn } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import { type AnyRoutines, ENGINES, type Row, SCHEDULES_AND_AUTO } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { formatOf, numbers, pick, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { KINDS, nearTies, PATTERNS, type Storage, type System, storage, stored, systemOn } from "./patterns.ts";

const reference = routinesOn(kernels("reference") as never) as unknown as AnyRoutines;
const COUNTS = [0, 1, 3, 4, 8, 11, 12, 16, 17, 21];

// Columns with an infinity, a NaN, zeros, random bit patterns, and numbers that cancel, side by side.
function columnsOf(random: Random, own: Real, count: number): Real[] {
  const format = formatOf(own);
  return range(count).map((j) => {
    const b = own.slice() as Real;
    const at = random.below(Math.max(1, b.length));
    if (j % 7 === 1) return vectorOf(format, Array.from(numbers(random, b.length, format)));
    if (j % 7 === 2) b[at] = pick(random, [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    else if (j % 7 === 3) b.fill(pick(random, [0, -0]));
    else if (j % 7 === 4)
      return vectorOf(
        format,
        Array.from(b, () => random.signed() * 2 ** (random.below(200) - 100)),
      );
    else if (j % 7 === 5) b[at] = random.signed() * 2 ** 90;
    else if (j % 7 === 6)
      return vectorOf(
        format,
        Array.from(b, (v) => -v),
      );
    return b;
  });
}

// A matrix with gaps between its lines.
function sideBySide(columns: readonly Real[], n: number, like: Real, order: "row" | "column"): Matrix<Real> {
  const count = columns.length;
  const [lines, length] = order === "row" ? [n, count] : [count, n];
  const data = vectorOf(formatOf(like), new Array(2 + lines * (length + 3)).fill(Number.NaN));
  const B = matrix<Real>(data, n, count, { order, ld: length + 3, offset: 2 });
  for (const [j, b] of columns.entries()) for (let i = 0; i < n; i++) data[indexIn(B, i, j)] = b[i] as number;
  return B;
}
const indexIn = (A: Matrix<Real>, i: number, j: number): number => A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i);

async function check(random: Random, rows: readonly Row[], system: System, how: Storage, count: number): Promise<void> {
  const { A, b } = stored(random, system, how);
  const { uplo, trans, unit } = how;
  const part = { uplo, trans, unit };
  const columns = columnsOf(random, b, count);
  const alone = await reference.sptrsv(A, part);
  const wanted: string[][] = [];
  for (const each of columns) wanted.push(storedBits((await alone.solve(each)) as Real));
  const B = sideBySide(columns, b.length, b, random.below(2) === 0 ? "row" : "column");
  for (const { name, hasSchedules, routines } of rows) {
    const schedule = hasSchedules ? pick(random, SCHEDULES_AND_AUTO) : "auto";
    const plan = await routines.sptrsv(A, { ...part, schedule });
    const X = await plan.solve(B);
    const label = `${name}, ${schedule}, n=${b.length}, ${count} columns, ${A.format} ${JSON.stringify(part)}, HALFULP_SEED=${SEED}`;
    expect([X.rows, X.cols, X.order, X.data.length], label).toEqual([b.length, count, B.order, b.length * count]);
    for (const [j, bits] of wanted.entries()) {
      const column = vectorOf(
        formatOf(b),
        range(b.length).map((i) => X.data[indexIn(X, i, j)] as number),
      );
      expect(storedBits(column), `${label}, column ${j}`).toEqual(bits);
    }
    await plan.free();
  }
}

const engines = ENGINES.filter(({ name }) => name !== "reference");
const host = engines.filter(({ every }) => every === 1);

describe(`plans with many right-hand sides, HALFULP_SEED=${SEED}`, () => {
  test.each(KINDS)("%s: every column has the bits that it has alone", async (kind) => {
    const random = new Random(SEED);
    for (let k = 0; k < cases(40, 6); k++) {
      const format = random.below(4) === 0 ? "binary32" : "binary64";
      const how = storage(random);
      const n = pick(random, [1, 5, 33, 70]);
      const system = systemOn(random, PATTERNS[kind](random, n), format, how.unit ?? false);
      await check(random, k === 0 ? engines : host, system, how, pick(random, COUNTS));
    }
  });

  test.each(["binary64", "binary32"] as const)("near ties of %s", async (format) => {
    const random = new Random(SEED);
    for (let k = 0; k < cases(20, 3); k++) {
      const how = storage(random);
      await check(random, host, nearTies(random, format, how.unit ?? false), how, 9);
    }
  });

  // The last row of the three kinds of columns: products that differ by 2^-1134 but round to the same subnormal number, either way, and equal
  // products. A nonzero sum that rounds to zero keeps its sign.
  test("products that underflow do not pass for equal ones", async () => {
    const [t, near, next] = [2 ** -515, 2 ** -515 * (1 + 2 ** -52), 2 ** -515 * (1 + 2 ** -51)];
    const A = csr(3, 3, Int32Array.of(0, 1, 2, 5), Int32Array.of(0, 1, 0, 1, 2), Float64Array.of(1, 1, near, -t, 1));
    const kinds = [
      { x: [near, next], last: -0 },
      { x: [-near, -next], last: 0 },
      { x: [t, near], last: 0 },
    ];
    const columns = range(8).map((j) => kinds[j % 3] as (typeof kinds)[number]);
    const B = sideBySide(
      columns.map(({ x }) => Float64Array.of(...x, 0)),
      3,
      new Float64Array(0),
      "row",
    );
    for (const { name, routines } of engines) {
      const plan = await routines.sptrsv(A);
      const X = await plan.solve(B);
      expect(Array.from(X.data.subarray(16)), name).toEqual(columns.map(({ last }) => last));
      await plan.free();
    }
  });

  test("a grid that workers share, by every schedule", async () => {
    const random = new Random(SEED);
    const system = systemOn(random, PATTERNS.grid(random, 2100), "binary64", false, "integers");
    const how = { by: "csr", uplo: "lower", trans: false, unit: false, sorted: true, full: false } as const;
    for (let k = 0; k < SCHEDULES_AND_AUTO.length; k++) await check(random, host, system, how, 16);
  });
});
