// Mean, variance and covariance from BigInt rationals (rational.ts), as docs/spec.md defines them; nothing of the code under test.
import { roundRatio, units } from "./rational.ts";

export type Data = Float64Array | Float32Array;

const formatOf = (x: Data) => (x instanceof Float64Array ? "binary64" : "binary32");
const allFinite = (...xs: Data[]): boolean => xs.every((x) => x.every(Number.isFinite));
const sum = (terms: Iterable<bigint>): bigint => [...terms].reduce((a, b) => a + b, 0n);
const unitsOf = (x: Data): bigint[] => Array.from(x, units);

// What a sum of terms that are not all finite is.
const special = (terms: number[]): number => terms.filter((t) => !Number.isFinite(t)).reduce((a, b) => a + b);

/** The mean of x, or with weights the weighted one. */
export function meanOf(x: Data, w?: Data): number {
  if (w) return weightedMeanOf(x, w);
  if (x.length === 0) return Number.NaN;
  if (!allFinite(x)) return special([...x]);
  return roundRatio(sum(unitsOf(x)) << 1074n, BigInt(x.length), "nearest", formatOf(x));
}

function weightedMeanOf(x: Data, w: Data): number {
  if (!allFinite(w)) return Number.NaN;
  const weights = sum(unitsOf(w));
  if (weights === 0n) return Number.NaN;
  if (!allFinite(x)) return special(Array.from(x, (v, i) => (Number.isFinite(v) ? 0 : v * (w[i] as number)))) * (weights > 0n ? 1 : -1);
  const [a, b] = [unitsOf(x), unitsOf(w)];
  return roundRatio(sum(a.map((v, i) => v * (b[i] as bigint))) << 1074n, weights, "nearest", formatOf(x));
}

/** The covariance of x and y; with y = x, the variance. */
export function covarianceOf(x: Data, y: Data, ddof: number): number {
  if (x.length <= ddof || !allFinite(x, y)) return Number.NaN;
  const n = BigInt(x.length);
  const [a, b] = [unitsOf(x), unitsOf(y)];
  const top = n * sum(a.map((v, i) => v * (b[i] as bigint))) - sum(a) * sum(b);
  return roundRatio(top, n * (n - BigInt(ddof)), "nearest", formatOf(x));
}
