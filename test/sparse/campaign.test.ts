// Random patterns of every kind on every engine, against the oracle and against extrsv.

import { describe, expect, test } from "vitest";
import type { Real, Sparse } from "../../src/arrays/types.ts";
import { extrsv, matrix } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { PATTERNS as COUNT, SEED } from "../effort.ts";
import { DEVICES, ON_ONE_THREAD, POOLS } from "../engines.ts";
import { formatOf, pick, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import type { Part } from "../oracles/sparse.ts";
import { type Case, caseOf, checkAll, same } from "./checks.ts";
import { fromDense, KINDS, PATTERNS, storage, stored, systemOn } from "./patterns.ts";

// Mostly small, some around the sizes of runs and tasks, and a few that several workers share.
function size(random: Random): number {
  const which = random.below(100);
  if (which < 1) return pick(random, [500, 1023, 1024, 1025]);
  if (which < 7) return 100 + random.below(150);
  if (which < 27) return pick(random, [31, 32, 33, 63, 64, 65]);
  return random.below(25);
}

function make(random: Random): Case {
  const format = random.below(4) === 0 ? "binary32" : "binary64";
  const how = storage(random);
  const kind = pick(random, KINDS);
  const n = size(random);
  const heavy = kind === "dense" || kind === "a few enormous rows";
  const system =
    random.below(5) === 0
      ? fromDense(random, Math.min(n, 65), format)
      : systemOn(random, PATTERNS[kind](random, heavy ? Math.min(n, 130) : n), format, how.unit ?? false);
  const { A, b } = stored(random, system, how);
  const { uplo, trans, unit } = how;
  return caseOf(A, b, { uplo, trans, unit });
}

const finite = (x: Iterable<number>): boolean => Array.from(x).every(Number.isFinite);

// The stored entries among zeros.
function dense(A: Sparse<Real>): Real {
  const n = A.rows;
  const values = vectorOf(formatOf(A.values), new Array(n * n).fill(0));
  for (let line = 0; line < n; line++)
    for (let p = A.pointers[line] as number; p < (A.pointers[line + 1] as number); p++) {
      const [i, j] = A.format === "csr" ? [line, A.indices[p] as number] : [A.indices[p] as number, line];
      values[i * n + j] = A.values[p] as number;
    }
  return values;
}
const onDense = ({ A, b }: Case, part: Part): Real => extrsv(matrix(dense(A) as Float64Array, A.rows, A.rows), b as Float64Array, part);

describe(`random patterns, HALFULP_SEED=${SEED}`, () => {
  // Every case on the calling thread by all engines there, and by all schedules on one of the pools.
  const turns = Math.max(POOLS.length, 1);
  test.each(range(turns))(`every ${turns}th of ${COUNT} from %i on is what the oracle and extrsv say`, async (turn) => {
    let compared = 0;
    for (let k = turn; k < COUNT; k += turns) {
      const of = make(new Random(SEED * 2 ** 20 + k));
      // Where nothing overflows zeros that are stored change nothing.
      if (of.b.length <= 65 && finite(of.want) && finite(of.A.values)) {
        same(onDense(of, of.part), of.want, `extrsv of case ${k}`);
        compared++;
      }
      for (const row of [...ON_ONE_THREAD, ...DEVICES, ...POOLS.slice(turn, turn + 1)])
        if (k % row.every === 0) await checkAll(row, of, `case ${k}`);
    }
    expect(compared).toBeGreaterThan(COUNT / turns / 4);
  });

  test("most solutions are finite, many are not, and some are zero", () => {
    const solutions = range(500).flatMap((k) => make(new Random(SEED * 2 ** 20 + k)).want);
    const share = (of: (x: number) => boolean): number => solutions.filter(of).length / solutions.length;
    expect(share(Number.isFinite)).toBeGreaterThan(0.5);
    expect(share((x) => !Number.isFinite(x))).toBeGreaterThan(0.01);
    expect(share((x) => x === 0)).toBeGreaterThan(0.005);
  });
});
