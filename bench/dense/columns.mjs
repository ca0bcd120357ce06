// Many right-hand sides, for dense.mjs: extrsm, LU.solve and a plan of sptrsv with 64 columns, per column, beside one right-hand side
// alone. Factors and right-hand sides are in the memory of the first engine.
import { differentBits, expectSame } from "../harness/checks.mjs";
import { dominant, square, uniform } from "../harness/data.mjs";
import { engines, main, matrix, study } from "../harness/library.mjs";
import { copyInto } from "../harness/ours.mjs";
import { race, timings } from "../harness/race.mjs";
import { count, figure, printTable, ratio } from "../harness/table.mjs";

const COLUMNS = 64;
const LIMIT = 0.6;
const AIM = 0.3;

const [engine] = engines;

/** The cases and their limits. */
export async function raceColumns(quick, pace) {
  const n = quick ? 256 : 2048;
  const side = quick ? 32 : 512;
  const routines = study.routinesOn(engine);
  const triangle = copyInto(engine, { T: dominant(n), A: square(n, 1) });
  const T = matrix(triangle.arrays.T, n, n);
  const factors = routines.exlu(matrix(triangle.arrays.A, n, n));
  const plan = routines.sptrsv(main.laplacian(side, side));
  const cases = [
    await measure(
      "extrsm",
      n,
      (B) => routines.extrsm(T, B),
      (b) => routines.extrsv(T, b),
    ),
    await measure(
      "LU.solve",
      n,
      (B) => factors.solve(B),
      (b) => factors.solve(b),
    ),
    await measure(
      "sptrsv",
      side * side,
      (B) => plan.solve(B),
      (b) => plan.solve(b),
    ),
  ];
  triangle.free();
  return { cases, limits: cases.map(limitOf) };

  // The bits of each column must be those of a call of its own.
  async function measure(routine, order, together, alone) {
    const { arrays, free } = copyInto(engine, { B: uniform(order * COLUMNS, 3), b: uniform(order, 4) });
    const B = matrix(arrays.B, order, COLUMNS);
    const rivals = [
      { name: `${routine}, ${COLUMNS} right-hand sides`, run: () => together(B), read: ({ data }) => data.slice() },
      { name: `${routine}, one`, run: () => alone(arrays.b), read: (x) => x.slice() },
    ];
    const outcomes = await race(rivals, pace);
    const column = (data, j) => Float64Array.from({ length: order }, (_, i) => data[i * COLUMNS + j]);
    for (const j of [0, COLUMNS - 1]) {
      const [own, shared] = [alone(column(arrays.B, j)), column(outcomes[0].result, j)];
      expectSame(
        `${routine}, column ${j}`,
        differentBits([
          { name: "alone", result: own },
          { name: "together", result: shared },
        ]),
      );
    }
    free();
    const [many, one] = outcomes;
    console.log(`\n${routine}, n = ${count(order)}, ${COLUMNS} right-hand sides, ${engine.name}`);
    printTable(
      ["", "ms per right-hand side", "/ alone"],
      [
        [many.name, figure(many.median / COLUMNS / 1e6), figure(many.median / COLUMNS / one.median)],
        [one.name, figure(one.median / 1e6), "1"],
      ],
    );
    return { routine, n: order, columns: COLUMNS, rivals: timings(outcomes) };
  }
}

function limitOf({ routine, n, rivals: [many, one] }) {
  return {
    row: `${routine}, ${COLUMNS} right-hand sides, one of them / alone, n = ${count(n)}`,
    value: ratio(many.median / COLUMNS, one.median),
    unit: "",
    limit: LIMIT,
    aim: AIM,
  };
}
