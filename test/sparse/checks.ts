// A system with its answer, to be solved on any engine by any schedule.

import { expect } from "vitest";
import type { Real, Sparse } from "../../src/arrays/types.ts";
import type { SparseOptions } from "../../src/index.ts";
import { SEED } from "../effort.ts";
import { type AnyPlan, POOLS, type Row, SCHEDULES_AND_AUTO } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { formatOf, vectorOf, wantedBits } from "../matrices.ts";
import { exactly, type Part } from "../oracles/sparse.ts";

const CANONICAL = { 8: "7ff8000000000000", 4: "7fc00000" };

/** The same numbers, zeros with their signs; a NaN as arrays have it. */
export function same(got: Real, want: ArrayLike<number>, label: string): void {
  if (got.length !== want.length) expect.fail(`${label}: ${got.length} unknowns, expected ${want.length}`);
  for (let i = 0; i < got.length; i++) {
    const [v, w] = [got[i] as number, want[i] as number];
    if (w === w ? Object.is(v, w) : storedBits(got.subarray(i, i + 1))[0] === CANONICAL[got.BYTES_PER_ELEMENT as 8 | 4]) continue;
    const expected = wantedBits([w], formatOf(got))[0];
    expect.fail(`${label} (HALFULP_SEED=${SEED}): unknown ${i} is ${storedBits(got.subarray(i, i + 1))}, expected ${expected}`);
  }
}

export const negative = <V extends Real>(x: V): V => x.map((v) => -v) as V;

/** A system, its answer, that for the right-hand side negated, and that for both sides negated. */
export interface Case {
  readonly A: Sparse<Real>;
  readonly b: Real;
  readonly part: Part;
  readonly want: readonly number[];
  readonly opposite: readonly number[];
  readonly both: readonly number[];
}

export function caseOf(A: Sparse<Real>, b: Real, part: Part): Case {
  const format = formatOf(b);
  const want = exactly(A, b, part, format);
  const opposite = exactly(A, negative(b), part, format);
  // A diagonal that is negated too changes nothing.
  const both = part.unit ? exactly({ ...A, values: negative(A.values) }, negative(b), part, format) : want;
  return { A, b, part, want, opposite, both };
}

const bytesOf = (x: Real): Buffer => Buffer.from(x.buffer as ArrayBuffer, x.byteOffset, x.byteLength);

/** Solve on an engine: b, its opposite, and both sides negated. Inputs stay as they are. */
export async function check(row: Row, { A, b, part, want, opposite, both }: Case, options: SparseOptions, label: string): Promise<void> {
  const what = `${label}, n=${b.length} ${A.format} ${formatOf(b)} ${JSON.stringify({ ...part, ...options })} on ${row.name}`;
  const before = [b, A.values].map((v) => Buffer.from(bytesOf(v)));
  const plan = await row.routines.sptrsv(A, { ...part, ...options });
  same(await plan.solve(b), want, what);
  // How work is shared does not depend on signs: pools are spared one of three solves.
  if (row.threads === 0) same(await plan.solve(negative(b)), opposite, `${what}, negated`);
  await plan.update(negative(A.values));
  const out = vectorOf(formatOf(b), new Array(b.length).fill(7));
  expect(await plan.solve(negative(b), out), what).toBe(out);
  same(out, both, `${what}, both sides negated`);
  await plan.free();
  for (const [i, v] of [b, A.values].entries())
    if (!bytesOf(v).equals(before[i] as Buffer)) expect.fail(`${what}: input ${i} was written to`);
}

let turn = 0;
/** By all schedules at once on a pool, by one after another from case to case on a device; on one thread they are one. */
export async function checkAll(row: Row, of: Case, label: string): Promise<void> {
  if (!row.hasSchedules) await check(row, of, {}, label);
  else if (row.threads === 0) await check(row, of, { schedule: SCHEDULES_AND_AUTO[turn++ % SCHEDULES_AND_AUTO.length] }, label);
  else await Promise.all(SCHEDULES_AND_AUTO.map((schedule) => check(row, of, { schedule }, label)));
}

/** One solve by every schedule on every pool, with a plan that is then freed. */
export async function onPools(
  A: Sparse<Real>,
  options: SparseOptions,
  use: (plan: AnyPlan, label: string) => Promise<void>,
): Promise<void> {
  for (const {
    name,
    routines: { sptrsv },
  } of POOLS)
    for (const schedule of SCHEDULES_AND_AUTO) {
      const plan = await sptrsv(A, { ...options, schedule });
      await use(plan, `${schedule} on ${name}`);
      await plan.free();
    }
}
