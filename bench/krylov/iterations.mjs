// The time of one iteration of a solver: the difference between a long and a short run over the difference of their iterations. What a
// call does once, such as the set-up of a preconditioner, the first and the last residual and the transfer of x, is not in it.
import { quick } from "../harness/options.mjs";
import { quantile, timings } from "../harness/race.mjs";

/** Iterations of the short and of the long run. */
export const COUNTS = { host: quick ? [2, 6] : [5, 25], device: quick ? [2, 6] : [50, 150] };

/**
 * Race { name, run, read } with run(iterations) by `raceThem`. Returns for each { name, median, min, rounds } in nanoseconds per
 * iteration, with `whole`, the time of the long run, and `setUp`, what of it is not iterations; or why it failed.
 */
export async function raceIterations(rivals, [few, many], raceThem) {
  const nameOf = (name, iterations) => `${name}, ${iterations} iterations`;
  const outcomes = await raceThem(
    rivals.flatMap(({ name, run, ...rest }) =>
      [few, many].map((iterations) => ({ ...rest, name: nameOf(name, iterations), run: () => run(iterations) })),
    ),
  );
  return rivals.map(({ name }) => {
    const [short, long] = [few, many].map((iterations) => outcomes.find((one) => one.name === nameOf(name, iterations)));
    const failed = short.failed ?? long.failed;
    if (failed) return { name, failed };
    const steps = many - few;
    // Rounds are paired, so that a slow spell of the machine affects both runs of a difference.
    const rounds = long.rounds.map((time, i) => (time - (short.rounds[i] ?? short.median)) / steps);
    const median = quantile(rounds, 0.5);
    const min = (long.min - short.min) / steps;
    return { name, result: long.result, median, min, rounds, whole: long.median, setUp: long.median - many * median };
  });
}

/** What of these outcomes goes into the file. */
export function iterationTimings(outcomes) {
  return timings(outcomes).map((one, i) => ({ ...one, whole: outcomes[i].whole, setUp: outcomes[i].setUp }));
}

/** Options of a solver that runs exactly this number of iterations. */
export function exactly(iterations, preconditioner) {
  return { preconditioner, tolerance: 0, maxIterations: iterations };
}

/** x of a solution that took as many iterations as were allowed. */
export function readSolution({ x, reason, iterations }) {
  if (reason !== "maxIterations") throw new Error(`cg: it ended after ${iterations} iterations (${reason}), expected "maxIterations"`);
  return x;
}
