// Random products, with what the oracle says of them.

import type { Format, Real } from "../../src/arrays/types.ts";
import type { Random } from "../../src/study.ts";
import { coin, column, completing, entry, layout, numbers, opposite, scalar, table, vectorOf } from "../matrices.ts";
import { products, type Value } from "../oracles/matrices.ts";
import { type Check, gemmCheck, gemvCheck } from "./checks.ts";

export function randomGemv(random: Random, format: Format, rows: number, cols: number): Check {
  const A = table(random, rows, cols, format);
  const trans = coin(random);
  const [m, n] = trans ? [cols, rows] : [rows, cols];
  const alpha = scalar(random);
  const x = numbers(random, n, format);
  const [beta, y] = addend(random, products(m, 1, n, alpha, entry(A, trans), column(x)), format);
  return gemvCheck(alpha, A, x, beta, y, trans, layout(random));
}

export function randomGemm(random: Random, format: Format, m: number, n: number, k: number): Check {
  const [transA, transB] = [coin(random), coin(random)];
  const A = transA ? table(random, k, m, format) : table(random, m, k, format);
  const B = transB ? table(random, n, k, format) : table(random, k, n, format);
  const alpha = scalar(random);
  const [beta, values] = addend(random, products(m, n, k, alpha, entry(A, transA), entry(B, transB)), format);
  const at = [layout(random), layout(random), layout(random)];
  return gemmCheck(alpha, A, B, beta, { rows: m, cols: n, values }, transA, transB, at);
}

// beta and what it multiplies: anything, or what nearly cancels the exact products, or brings them to a tie.
function addend(random: Random, exact: readonly Value[], format: Format): [number, Real] {
  const style = random.below(3);
  if (style === 0) return [scalar(random), numbers(random, exact.length, format)];
  const sign = coin(random) ? 1 : -1;
  const complete = style === 1 ? opposite : completing;
  const values = exact.map((v) => sign * complete(random, v, format));
  return [sign, vectorOf(format, values)];
}
