// Matrices for the tests of ilu0.
import { csc, csr } from "../../src/arrays/sparse.ts";
import type { Format } from "../../src/arrays/types.ts";
import type { Real, Sparse } from "../../src/index.ts";
import type { Random } from "../../src/study.ts";
import { KINDS, permutation } from "../generators.ts";
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
