// Special values on the diagonal and in the sum, in both places where a row can be decided.
import { describe, expect, test } from "vitest";
import { csr } from "../../src/index.ts";
import { ENGINES } from "../engines.ts";

const row = (a: number, d: number) => csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(1, a, d));

describe.each(ENGINES)("$name", ({ routines }) => {
  test.each([
    { a: 1, d: Number.NaN, b: [0, 0], want: Number.NaN },
    { a: 1, d: Number.NaN, b: [1, 1], want: Number.NaN }, // cancels
    { a: 1, d: Number.NaN, b: [1, 2], want: Number.NaN },
    { a: 1, d: Number.POSITIVE_INFINITY, b: [1, 2], want: 0 },
    { a: 1, d: Number.NEGATIVE_INFINITY, b: [1, 2], want: 0 },
    { a: 1, d: -2, b: [1, 1], want: 0 },
    { a: 0, d: 1, b: [Number.POSITIVE_INFINITY, 1], want: Number.NaN },
    { a: 2, d: -1, b: [Number.POSITIVE_INFINITY, 1], want: Number.POSITIVE_INFINITY },
    { a: 1e-200, d: 1e-200, b: [1e-200, 1e-200], want: 1 }, // a product that underflows
    { a: 1e-200, d: 1, b: [1e-200, 0], want: -0 },
    { a: 1e200, d: 1e200, b: [1e200, 0], want: -1e200 }, // one that overflows
  ])("$b through $a, divided by $d", async ({ a, d, b, want }) => {
    const plan = await routines.sptrsv(row(a, d));
    const x = await plan.solve(Float64Array.from(b));
    await plan.free();
    expect(Object.is(x[1], want), String(x[1])).toBe(true);
  });
});
