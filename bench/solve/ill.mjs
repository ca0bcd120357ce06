// Ill-conditioned systems, for solveTables.mjs: whether refinement with binary32 factors converges and in how many steps, which
// method the fallback ends with, and the errors of the solutions.
import { main, measurements, study } from "../harness/library.mjs";
import { printTable } from "../harness/table.mjs";

const { exactSolve, relativeError } = measurements.exactErrors;

/**
 * One point for each condition and seed; exact errors for the first seeds only: an exact solution of order 100 takes seconds.
 * Returns { n, seeds, points, allUpTo, noneFrom }: every seed converges in mixed precision up to the condition `allUpTo`, and `noneFrom`
 * is the smallest at which none does; undefined where there is none. Conditions above 2^53 / n say nothing: there a large enough
 * multiple of the vector that A makes small has a scaled residual below 1 for any right-hand side.
 */
export function measureIll({ n, conditions, seeds, exactSeeds }) {
  const points = conditions.flatMap((condition) =>
    Array.from({ length: seeds }, (_, seed) => ({ condition, seed: seed + 1, ...pointOf(n, condition, seed + 1, seed < exactSeeds) })),
  );
  const at = (condition) => points.filter((point) => point.condition === condition);
  const rows = conditions.map((condition) => summaryOf(condition, at(condition)));
  const first = rows.findIndex(({ converged }) => converged < seeds);
  const allUpTo = rows[(first < 0 ? rows.length : first) - 1]?.condition;
  const noneFrom = rows.find(({ converged }) => converged === 0)?.condition;
  console.log(`\nIll-conditioned systems, n = ${n}, ${seeds} seeds: binary32 factors with refinement, and the method after fallback`);
  printTable(
    ["condition", "converged", "steps", "solved by mixed", "double", "exact", "error of mixed", "with fallback"],
    rows.map(({ condition, converged, steps, by, errors }) => [
      condition.toExponential(0),
      `${converged} of ${seeds}`,
      steps.join("-"),
      ...["mixed", "double", "exact"].map((method) => String(by[method] ?? 0)),
      ...errors.map((error) => error?.toExponential(1)),
    ]),
  );
  const words = (condition) => condition?.toExponential(0) ?? "no condition here";
  console.log(
    `  All converge up to ${words(allUpTo)}, none at ${words(noneFrom)}; the criterion says nothing above ${words(2 ** 53 / n)}.`,
  );
  return { n, seeds, allUpTo, noneFrom, points };
}

// The right-hand side is A times a random vector, rounded, so the exact solution is not that vector.
function pointOf(n, condition, seed, withErrors) {
  const A = main.illConditionedMatrix(n, condition, seed);
  const random = new study.Random(seed);
  const factor = Float64Array.from({ length: n }, () => random.signed());
  const b = main.exgemv(1, A, factor, 0, new Float64Array(n));
  const mixed = main.solve(A, b, { rounding: "backward", method: "mixed", fallback: false });
  const best = main.solve(A, b, { rounding: "backward", method: "mixed" });
  const exact = withErrors ? exactSolve(A, b) : undefined;
  return {
    mixed: qualityOf(mixed, exact),
    answer: { method: best.method, fellBack: best.fellBack, ...qualityOf(best, exact) },
  };
}

function qualityOf({ x, converged, iterations, residual }, exact) {
  return { converged, iterations, residual, ...(exact && { error: relativeError(exact, x) }) };
}

function summaryOf(condition, points) {
  const steps = points.filter(({ mixed }) => mixed.converged).map(({ mixed }) => mixed.iterations);
  const by = {};
  for (const { answer } of points) by[answer.method] = (by[answer.method] ?? 0) + 1;
  const worst = (of) => {
    const errors = points.map((point) => of(point).error).filter((error) => error !== undefined);
    return errors.length === 0 ? undefined : Math.max(...errors.map((error) => Math.min(error ?? 1, 1)));
  };
  return {
    condition,
    converged: steps.length,
    steps: steps.length === 0 ? [] : [...new Set([Math.min(...steps), Math.max(...steps)])],
    by,
    errors: [worst(({ mixed }) => mixed), worst(({ answer }) => answer)],
  };
}
