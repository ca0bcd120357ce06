// Lower bounds on time, for all CPU benchmarks: reading data that are in no cache, and the arithmetic.
import { race } from "./race.mjs";
import { count, figure } from "./table.mjs";

/** GB/s, on `length` binary64 numbers. */
export async function measureReading(space, plain, length, pace) {
  const { x, y } = space.place({ x: new Float64Array(length).fill(1), y: new Float64Array(length) });
  const [read, copy] = await race(
    [
      { name: "read", run: () => plain.sum(x) },
      { name: "copy", run: () => y.set(x) },
    ],
    pace,
  );
  const result = { readGBs: (8 * length) / read.median, copyGBs: (16 * length) / copy.median };
  console.log(
    `\nThe floor: the plain sum of ${count(length)} elements reads ${figure(result.readGBs)} GB/s; a copy moves ${figure(result.copyGBs)} GB/s.`,
  );
  return result;
}

/** Gflop/s of the tile that the plain gemm is made of, all its data in the first-level cache. */
export async function measureArithmetic(space, plain, pace) {
  const depth = 384; // 12 KiB each
  const { a, b, c } = space.place({ a: new Float64Array(4 * depth), b: new Float64Array(4 * depth), c: new Float64Array(16) });
  const outcomes = await race(
    plain.map((kernels) => ({ name: kernels.engine, run: () => kernels.tile(depth, a, b, c) })),
    pace,
  );
  const rates = outcomes.map(({ name, median }) => [name, (32 * depth) / median]);
  console.log(
    `  Products and sums in registers, two lanes as WebAssembly has them: ${rates.map(([name, rate]) => `${figure(rate)} Gflop/s (${name})`).join(", ")}.`,
  );
  return Object.fromEntries(rates);
}

/** Gflop/s of independent chains of multiply-adds in registers, { binary32, binary64 }. */
export async function measurePeaks(peaks, pace) {
  const steps = 10_000;
  const formats = Object.entries(peaks);
  const outcomes = await race(
    formats.map(([name, { run }]) => ({ name, run: () => run(steps) })),
    pace,
  );
  const rates = formats.map(([name, { operations }], i) => [name, (operations * steps) / outcomes[i].median]);
  console.log(`  Multiply-adds alone: ${rates.map(([name, rate]) => `${figure(rate)} Gflop/s in ${name}`).join(", ")}.`);
  return Object.fromEntries(rates);
}
