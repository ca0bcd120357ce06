// Mean, variance and covariance of vectors: checks, then the sums on an engine. As in engines/reduce.ts, first their enclosures, which
// nearly always prove the result; if not, the exact sums. src/api/statistics.ts builds the public functions from these.
import { checkCount, checkPair, checkSize, checkVector, checkVectorOf } from "../arrays/checks.ts";
import type { Format, Real, Reduction } from "../arrays/types.ts";
import type { VectorKernels } from "../engines/kernels.ts";
import { enclosure } from "../exact/enclosure.ts";
import { certifyCovariance, certifyQuotient, type Enclosure, roundCovariance, roundMean, roundWeightedMean } from "../exact/statistics.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";

/** The statistics, for vectors of either precision. */
export interface Statistics {
  exmean(x: Real, weights?: Real): number;
  exvariance(x: Real, ddof?: number): number;
  excovariance(x: Real, y: Real, ddof?: number): number;
}

/** The degrees of freedom that are subtracted from n. */
export function checkDdof(routine: string, ddof: number): void {
  checkCount(routine, "ddof", ddof, 0);
}

/** The statistics on an engine. */
export function statistics(kernels: () => VectorKernels): Statistics {
  const enclose = (op: Reduction, x: Real, y: Real): Enclosure => {
    kernels().enclose(op, x, y);
    return [enclosure[0] as number, enclosure[1] as number, enclosure[2] as number];
  };
  const sumOf = (op: Reduction, x: Real, y: Real): Superaccumulator => {
    const sum = new Superaccumulator();
    kernels().accumulate(op, x, y, sum, true);
    return sum;
  };
  const covariance = (x: Real, y: Real, ddof: number, format: Format): number => {
    const n = x.length;
    if (n <= ddof) return Number.NaN;
    const ofX = enclose("sum", x, x);
    const certified = certifyCovariance(n, ofX, y === x ? ofX : enclose("sum", y, y), enclose("dot", x, y), ddof, format);
    if (certified === certified) return certified;
    const sumX = sumOf("sum", x, x);
    return roundCovariance(n, sumX, y === x ? sumX : sumOf("sum", y, y), sumOf("dot", x, y), ddof, format);
  };
  return {
    exmean(x: Real, weights?: Real): number {
      const format = checkVector("exmean", "x", x);
      if (weights === undefined) {
        if (x.length === 0) return Number.NaN;
        const certified = certifyQuotient(enclose("sum", x, x), [x.length, 0, 0], format);
        return certified === certified ? certified : roundMean(sumOf("sum", x, x), x.length, format);
      }
      checkVectorOf("exmean", "weights", weights, format, "x");
      checkSize("exmean", "weights", weights, x.length, "the length of x");
      const certified = certifyQuotient(enclose("dot", weights, x), enclose("sum", weights, weights), format);
      return certified === certified ? certified : roundWeightedMean(sumOf("dot", weights, x), sumOf("sum", weights, weights), format);
    },
    exvariance(x: Real, ddof = 1): number {
      const format = checkVector("exvariance", "x", x);
      checkDdof("exvariance", ddof);
      return covariance(x, x, ddof, format);
    },
    excovariance(x: Real, y: Real, ddof = 1): number {
      const format = checkPair("excovariance", x, y);
      checkDdof("excovariance", ddof);
      return covariance(x, y, ddof, format);
    },
  };
}
