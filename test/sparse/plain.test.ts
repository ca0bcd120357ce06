// Plain mode: the row-wise schedules return the bits of the row-wise loop, whatever the numbers; the column-wise ones, which
// add up in any order, a solution with a small residual.

import { describe, expect, test } from "vitest";
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { csr, laplacian } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, FULL, SEED } from "../effort.ts";
import { DEVICES, ENGINES, ON_ONE_THREAD, POOLS, type Row, SELECTED_ENGINES } from "../engines.ts";
import { formatOf, pick, vectorOf } from "../matrices.ts";
import { product, range, rounded, sum, value } from "../oracles/matrices.ts";
import { leftOf, type Row as MatrixRow, type Part, plainly, rowsOf } from "../oracles/sparse.ts";
import { negative, same } from "./checks.ts";
import { KINDS, PATTERNS, storage, stored, systemOn } from "./patterns.ts";

const BY_ROWS = ["serial", "levr", "slfr", "gsf"] as const;
const BY_COLUMNS = ["levc", "slfc"] as const;
const FORMATS: readonly Format[] = ["binary64", "binary32"];

async function checkRows(row: Row, A: Sparse<Real>, b: Real, part: Part, label: string): Promise<void> {
  const want = plainly(A, b, part, formatOf(b));
  await Promise.all(
    BY_ROWS.map(async (schedule) => {
      const plan = await row.routines.sptrsv(A, { ...onlyPart(part), exact: false, schedule });
      const what = `${label}, ${schedule} ${A.format} ${JSON.stringify(part)} on ${row.name}`;
      same(await plan.solve(b), want, what);
      await plan.update(negative(A.values));
      same(await plan.solve(b), plainly({ ...A, values: negative(A.values) }, b, part, formatOf(b)), `${what}, updated`);
      await plan.free();
    }),
  );
}

// Products and differences round once each, the quotient once: whatever their order, b - T x is at most (m + 2) u |T| |x| for
// a row of m entries beside the diagonal (Higham, Lemma 8.4), and here nothing underflows.
function checkResidual(x: Real, A: Sparse<Real>, b: Real, part: Part, label: string): void {
  const u = formatOf(b) === "binary64" ? 2 ** -53 : 2 ** -24;
  rowsOf(A, part).forEach((row, i) => {
    const whole: MatrixRow = { ...row, columns: [...row.columns, i], values: [...row.values, row.diagonal as number] };
    const terms = whole.columns.map((j, p) => product(value(Math.abs(whole.values[p] as number)), value(Math.abs(x[j] as number))));
    const [left, size] = [leftOf(whole, b[i] as number, (j) => x[j] as number), sum(terms)];
    const bound = (whole.columns.length + 2) * u * rounded(size, "binary64");
    if (!(Math.abs(rounded(left, "binary64")) <= bound))
      expect.fail(`${label}: row ${i} leaves ${rounded(left, "binary64")}, at most ${bound}`);
  });
}

describe(`plain arithmetic by rows, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  test.each(FORMATS)("small systems of every kind, %s", async (format) => {
    for (const k of range(cases(200, 40))) {
      const how = storage(random);
      const n = pick(random, [1, 2, 5, 9, 20, 33, 65]);
      const { A, b } = stored(random, systemOn(random, PATTERNS[pick(random, KINDS)](random, n), format, how.unit ?? false), how);
      for (const row of [...ON_ONE_THREAD, ...DEVICES, ...POOLS.slice(k % POOLS.length, (k % POOLS.length) + 1)])
        if (k % row.every === 0) await checkRows(row, A, b, how, `case ${k}`);
    }
  });

  test.each(KINDS)("%s, shared by all pools", async (kind) => {
    for (const format of FORMATS) {
      const how = storage(random);
      const n = kind === "dense" ? 150 : 1025;
      const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, n), format, how.unit ?? false, "tame"), how);
      for (const row of FULL ? ENGINES : SELECTED_ENGINES) await checkRows(row, A, b, how, kind);
    }
  });

  test("the order of a row's entries is that in which they are stored", async () => {
    // 0 - 2^53 - 1 + 2^53 - 1 in several orders: -1, -2 and 0
    const x = Float64Array.of(2 ** 53, 1, -(2 ** 53), 1, 0);
    const sums = [
      [0, 1, 2, 3],
      [0, 2, 1, 3],
      [1, 0, 3, 2],
    ].map((columns) => [columns, plainly(withLastRow(columns), x, {}, "binary64")[4]] as const);
    expect(sums.map(([, s]) => s)).toEqual([-1, -2, 0]);
    for (const [columns] of sums) for (const row of ENGINES) await checkRows(row, withLastRow(columns), x, {}, `order ${columns}`);
  });

  test("all systems of the calling thread run serially, and say so", async () => {
    for (const {
      routines: { sptrsv },
    } of ON_ONE_THREAD)
      for (const schedule of ["auto", ...BY_ROWS, ...BY_COLUMNS] as const) {
        const plan = await sptrsv(laplacian(9, 9), { exact: false, schedule });
        expect([plan.schedule, plan.levels, plan.reason]).toEqual(["serial", 0, "on the calling thread all schedules run serially"]);
        same(
          await plan.solve(new Float64Array(81).fill(0.1)),
          plainly(laplacian(9, 9), new Float64Array(81).fill(0.1), {}, "binary64"),
          schedule,
        );
      }
  });
});

describe(`plain arithmetic by columns, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  test.each(KINDS)("%s leaves a small residual", async (kind) => {
    for (const format of FORMATS)
      for (const n of FULL ? [1, 33, 700] : [1, 130]) {
        const how = storage(random);
        const { A, b } = stored(
          random,
          systemOn(random, PATTERNS[kind](random, kind === "dense" ? Math.min(n, 60) : n), format, how.unit ?? false, "tame"),
          how,
        );
        const tame = plainly(A, b, how, format).every((x) => Math.abs(x) < 1e30 && (x === 0 || Math.abs(x) > 1e-25));
        if (!tame) continue; // long chains may grow past the range of binary32
        for (const {
          name,
          routines: { sptrsv },
        } of ENGINES)
          for (const schedule of BY_COLUMNS) {
            const plan = await sptrsv(A, { ...onlyPart(how), exact: false, schedule });
            checkResidual(await plan.solve(b), A, b, how, `${kind} ${format}, ${schedule} on ${name} (HALFULP_SEED=${SEED})`);
            await plan.update(negative(A.values));
            const turned = { ...A, values: negative(A.values) };
            checkResidual(await plan.solve(b), turned, b, how, `${kind} ${format}, ${schedule} on ${name}, updated (HALFULP_SEED=${SEED})`);
            await plan.free();
          }
      }
  });

  test("a solution of small integers is exact in any order", async () => {
    for (const k of range(cases(8, 2))) {
      const how = storage(random);
      const system = systemOn(
        random,
        PATTERNS[
          pick(
            random,
            KINDS.filter((kind) => kind !== "dense"),
          )
        ](random, 600),
        "binary64",
        how.unit ?? false,
        "integers",
      );
      const { A, b } = stored(random, system, how);
      for (const {
        name,
        routines: { sptrsv },
      } of POOLS)
        for (const schedule of BY_COLUMNS) {
          const plan = await sptrsv(A, { ...onlyPart(how), exact: false, schedule });
          same(
            vectorOf("binary64", (await plan.solve(b)).map(Math.abs)),
            plainly(A, b, how, "binary64").map(Math.abs),
            `system ${k}, ${schedule} on ${name}`,
          );
          await plan.free();
        }
    }
  });
});

const onlyPart = ({ uplo, trans, unit }: Part): Part => ({ uplo, trans, unit });

// Ones on the diagonal and in the last row, whose columns come in this order.
function withLastRow(columns: readonly number[]): Sparse {
  return csr(5, 5, Int32Array.of(0, 1, 2, 3, 4, 9), Int32Array.from([0, 1, 2, 3, ...columns, 4]), new Float64Array(9).fill(1));
}
