// What bench/ranks.mjs measures: the jobs, their sizes, and the limits. Sizes and limits are those of two machines: two cores, and 16.

/** The number of ranks from which the sizes of the large machine are used. */
const MANY = 16;

export const SECTIONS = ["level1", "dense", "cg", "solve", "memory", "messages"];

/** Bytes of a matrix and its factors. */
export const matrixAndFactors = (n) => 2 * 8 * n ** 2;

/**
 * The jobs for these numbers of ranks: a program with its arguments. Every one runs on one rank too, except those with `several`, and with
 * `crowded` also with more ranks than cores. `once`: in the first round only.
 */
export function jobsFor(counts, cores, quick) {
  const most = Math.max(...counts.filter((ranks) => ranks <= cores), 1);
  const size = (two, many, small) => (quick ? small : most >= MANY ? many : two);
  const dense = (routine, n, rounds, more) => ({
    section: "dense",
    name: routine,
    n,
    program: "dense.mjs",
    args: [routine, n, rounds],
    ...more,
  });
  const side = size(96, 192, 16);
  const length = size(16_000_000, 2 ** 27, 100_000);
  const isLarge = most >= MANY && !quick; // there, only what has a limit: one rank takes long
  const methods = isLarge ? ["cg-none", "cg-jacobi"] : ["exspmv", "cg-none", "cg-jacobi", "bicgstab-none", "gmres-none"];
  const forCalibration = [
    dense("exgemv", size(4096, 8192, 96), 5),
    dense("extrsv", size(1024, 1024, 64), 5),
    dense("extrsv", size(4096, 4096, 128), 3),
    dense("gather", size(2048, 2048, 64), 5),
    dense("enclosures", size(100_000, 100_000, 100), 5, { several: true }),
  ];
  return [
    {
      section: "level1",
      name: "exdot",
      n: length,
      program: "level1.mjs",
      args: [length, quick ? 100 : 2000, quick ? 3 : 9],
      crowded: true,
    },
    // The first calls of a process are slower (exgemm on two ranks: 195, 165, 150, then 135 ms), since the code is compiled on the same cores.
    dense("exgemm", size(1024, 2048, 96), isLarge ? 1 : 9),
    dense("exlu", size(2048, 4096, 96), isLarge ? 1 : 9),
    ...(isLarge ? [] : forCalibration),
    { section: "cg", name: "cg", n: side, program: "cg.mjs", args: [side, quick ? 4 : 20, methods.join(",")] },
    { ...dense("solve", size(2000, 2000, 96), 2), section: "solve" },
    { ...dense("exlu", size(4096, 8192, 96), 1), section: "memory", once: true, several: true },
    { section: "messages", name: "messages", program: "messages.mjs", args: quick ? [10, 3] : [], several: true, once: true },
  ];
}

// How much faster than one rank, by number of ranks.
const FASTER = {
  2: { exdot: { limit: 1.6 }, exgemm: { limit: 1.6 }, exlu: { limit: 1.6 } },
  16: {
    exdot: { limit: 9, aim: 12 },
    exlu: { limit: 7, aim: 12 },
    "cg-none": { limit: 8 },
    "cg-jacobi": { limit: 8 },
  },
};

/** The limits that these results of one library have to keep: rows of printLimits(). `allreduceUs` is that of C, by number of ranks. */
export function limitsOf(library, results, allreduceUs, cores) {
  return results.flatMap((result) => {
    const [alone] = result.runs;
    return result.runs.flatMap((run) => {
      if (run.failed) return [];
      const row = (what) => `${library}, ${run.ranks} ranks: ${what}`;
      if (result.section === "memory" && run.ranks !== MANY) return [];
      if (result.section === "memory")
        return [memoryRow(row(`exlu of order ${result.n}, memory of a rank / matrix and factors`), run, result.n)];
      if (run.ranks === 1) return [];
      const limits = FASTER[run.ranks] ?? {};
      const faster = timesOf(result, run).flatMap(([name, ms]) => {
        const before = timesOf(result, alone).find(([other]) => other === name)?.[1];
        const what = result.section === "cg" ? `${name}, ${result.n}^3` : `${name}, n = ${result.n}`;
        return limits[name] ? [{ row: row(what), value: before / ms, unit: " times faster", atLeast: true, ...limits[name] }] : [];
      });
      return [...(result.section === "level1" ? shortRows(row, run, allreduceUs[run.ranks], cores) : []), ...faster];
    });
  });
}

/** The times of a run in ms, by name. */
export function timesOf({ section, name }, run) {
  if (section === "cg") return Object.entries(run.ms ?? {});
  return [[name, section === "level1" ? run.longMs : run.ms]];
}

function memoryRow(row, { peakMB }, n) {
  const value = peakMB === undefined ? undefined : (1e6 * peakMB) / matrixAndFactors(n);
  return { row, value, unit: "", limit: 1 / 8 };
}

function shortRows(row, { ranks, shortUs, waitCpuMs }, allreduceUs, cores) {
  const waiting = { row: row("processor time of a second of waiting"), value: waitCpuMs, unit: " ms", limit: 50 };
  if (ranks > cores) return [{ row: row("exdot of short parts"), value: shortUs / 1000, unit: " ms", limit: 10 }, waiting];
  const over = allreduceUs === undefined ? undefined : shortUs - allreduceUs;
  return [{ row: row("exdot of short parts over MPI_Allreduce"), value: over, unit: " us", limit: 50, aim: 25 }, waiting];
}
