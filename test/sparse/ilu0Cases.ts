// Matrices for the tests of ilu0, and the comparison with the reference.
import { expect } from "vitest";
import { csc, csr } from "../../src/arrays/sparse.ts";
import type { Format } from "../../src/arrays/types.ts";
import type { Real, Sparse } from "../../src/index.ts";
import { kernels, type Random, routinesOn } from "../../src/study.ts";
import type { AnyRoutines } from "../engines.ts";
import { KINDS, permutation } from "../generators.ts";
import { storedBits } from "../hex.ts";
import { numbers, pick } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";

const FINITE = KINDS.filter((kind) => kind !== "special");

/** A square matrix with a full diagonal and as many other entries as `density` says, its lines in order or not. */
export function random(source: Random, n: number, density: number, format: Format, by: "csr" | "csc", sorted: boolean): Sparse<Real> {
  const lines = range(n).map((i) => {
    const there = range(n).filter((j) => i === j || source.below(1000) < density * 1000);
    return sorted ? there : Array.from(permutation(source, there.length), (k) => there[k] as number);
  });
  const pointers = new Int32Array(n + 1);
  lines.forEach((line, i) => {
    pointers[i + 1] = (pointers[i] as number) + line.length;
  });
  const indices = Int32Array.from(lines.flat());
  const values = numbers(source, indices.length, format, pick(source, FINITE));
  const style = source.below(8);
  for (let i = 0; i < n; i++)
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++)
      if (indices[p] === i && style < 4) values[p] = style === 0 ? source.below(8) : 1 + source.below(8);
      else if (indices[p] === i) values[p] = values[p] || 1;
  return (by === "csr" ? csr : csc)(n, n, pointers, indices, values);
}

/** A full pattern by rows. */
export function full<V extends Real>(values: V, n: number): Sparse<V> {
  const pointers = Int32Array.from(range(n + 1), (i) => i * n);
  const indices = Int32Array.from(range(n * n), (p) => p % n);
  return csr<V>(n, n, pointers, indices, values);
}

export const reference = routinesOn(kernels("reference") as NonNullable<ReturnType<typeof kernels>>);

async function outcomeOf(factor: () => unknown): Promise<unknown> {
  try {
    const { format, rows, cols, pointers, indices, values } = (await factor()) as Sparse<Real>;
    return { format, rows, cols, pointers: Array.from(pointers), indices: Array.from(indices), bits: storedBits(values) };
  } catch (error) {
    const { name, message, index, row, column } = error as Record<string, unknown>;
    return { name, message, index, row, column };
  }
}

/** The bits or the error of the reference, and A unchanged. Returns whether there are factors. */
export async function check({ ilu0 }: Pick<AnyRoutines, "ilu0">, A: Sparse<Real>): Promise<boolean> {
  const before = storedBits(A.values);
  const wanted = await outcomeOf(() => reference.ilu0(A));
  expect(await outcomeOf(() => ilu0(A))).toEqual(wanted);
  expect(storedBits(A.values)).toEqual(before);
  return "bits" in (wanted as object);
}

/** The matrix with every value changed. */
export function mapped<V extends Real>(A: Sparse<V>, change: (v: number, p: number) => number): Sparse<V> {
  const values = A.values.slice() as V;
  for (let p = 0; p < values.length; p++) values[p] = change(values[p] as number, p);
  return (A.format === "csr" ? csr : csc)<V>(A.rows, A.cols, A.pointers, A.indices, values);
}
