// Matrices with structure, for dense.mjs: zeros, bands, a Laplacian, integers, numbers of binary32, Hilbert's matrix, each beside random
// data, on the first engine, in its memory. Programs meet such matrices more often than random ones.
import { differentBits, expectSame } from "../harness/checks.mjs";
import { square, uniform } from "../harness/data.mjs";
import { engines, matrix } from "../harness/library.mjs";
import { ENGINE_MEMORY, oursFor, routineOf } from "../harness/ours.mjs";
import { race, timings } from "../harness/race.mjs";
import { count, figure, printTable, ratio } from "../harness/table.mjs";

const RANDOM = "random";
const HILBERT = "Hilbert's matrix";
const LIMIT = 1.5;
const AIM = 1;
const HILBERT_LIMIT = 3;
const HILBERT_AIM = 1.5;
const HALF_WIDTH = 4; // of the band
const INTEGERS = 1000; // below this in magnitude

const [engine] = engines;

/** The orders of the matrices. */
function ordersFor(quick) {
  return quick ? { gemv: 512, gemm: 128, lu: 256 } : { gemv: 2048, gemm: 512, lu: 1024 };
}

// Entry (i, j) of each kind from a random number in (-1, 1). Only the matrix of zeros is singular: it is not factored.
const KINDS = {
  zeros: () => 0,
  "a band": (v, i, j) => (Math.abs(i - j) <= HALF_WIDTH ? v : 0),
  "a Laplacian": (_, i, j, n) => laplacian(i, j, Math.round(Math.sqrt(n))),
  integers: (v) => Math.trunc(v * INTEGERS),
  "numbers of binary32": (v) => Math.fround(v),
  [HILBERT]: (_, i, j) => 1 / (i + j + 1),
};

// Five points on a grid with rows of `side` unknowns, the last of which may be shorter.
function laplacian(i, j, side) {
  const distance = Math.abs(i - j);
  if (distance === 0) return 4;
  return distance === side || (distance === 1 && Math.max(i, j) % side !== 0) ? -1 : 0;
}

function matrixOf(kind, n, seed) {
  const random = square(n, seed);
  return kind === RANDOM ? random : random.map((v, e) => KINDS[kind](v, Math.floor(e / n), e % n, n));
}

const SET_UPS = {
  gemv: (kind, n) => ({
    arrays: { A: matrixOf(kind, n, 1), x: uniform(n, 2), y: new Float64Array(n) },
    rival({ exgemv }, { A, x, y }) {
      const M = matrix(A, n, n);
      return { run: () => exgemv(1, M, x, 0, y), read: (result) => result.slice() };
    },
  }),
  gemm: (kind, n) => ({
    arrays: { A: matrixOf(kind, n, 1), B: matrixOf(kind, n, 2), C: new Float64Array(n * n) },
    rival({ exgemm }, arrays) {
      const [A, B, C] = [arrays.A, arrays.B, arrays.C].map((data) => matrix(data, n, n));
      return { run: () => exgemm(1, A, B, 0, C), read: (result) => result.data.slice() };
    },
  }),
  lu: (kind, n) => ({
    arrays: { A: matrixOf(kind, n, 1) },
    rival({ exlu }, { A }) {
      const M = matrix(A, n, n);
      return { run: () => exlu(M), read: (factors) => factors.lu.data.slice() };
    },
  }),
};

/** The cases, one per routine with every kind of matrix as a rival, and their limits. */
export async function raceStructure(quick, pace) {
  const cases = [];
  for (const [op, n] of Object.entries(ordersFor(quick))) cases.push(await measure(op, n, pace));
  return { cases, limits: cases.flatMap(limitsOf) };
}

async function measure(op, n, pace) {
  const kinds = [RANDOM, ...Object.keys(KINDS).filter((kind) => op !== "lu" || kind !== "zeros")];
  const set = kinds.map((kind) => ({ kind, ...oursOf(op, kind, n) }));
  const outcomes = await race(
    set.map(({ kind, inMemory: { run } }) => ({ name: kind, run })),
    pace,
  );
  for (const { kind, inMemory, ordinary, free } of set) {
    expectSame(
      `${routineOf(op)} of ${kind}`,
      differentBits([inMemory, ordinary].map(({ name, run, read }) => ({ name, result: read(run()) }))),
    );
    free();
  }
  console.log(`\n${routineOf(op)} of matrices with structure, n = ${count(n)}, ${engine.name}, ${ENGINE_MEMORY}`);
  const rows = outcomes.map(({ name, median, min }) => [name, ...[median / 1e6, min / 1e6, median / outcomes[0].median].map(figure)]);
  printTable(["", "ms/call", "minimum", `/ ${RANDOM}`], rows);
  return { op, n, rivals: timings(outcomes) };
}

// The routine in engine memory, and on ordinary arrays, whose bits must be the same.
function oursOf(op, kind, n) {
  const { arrays, rival } = SET_UPS[op](kind, n);
  const { rivals, free } = oursFor(op, arrays, rival);
  const [inMemory, ordinary] = rivals; // of the first engine
  return { inMemory, ordinary, free };
}

function limitsOf({ op, n, rivals: [random, ...others] }) {
  return others.flatMap(({ name, median }) => {
    const isHilbert = name === HILBERT;
    if (isHilbert && op !== "lu") return [];
    return {
      row: `${routineOf(op)} of ${name} / ${RANDOM}, n = ${count(n)}`,
      value: ratio(median, random.median),
      unit: "",
      limit: isHilbert ? HILBERT_LIMIT : LIMIT,
      aim: isHilbert ? HILBERT_AIM : AIM,
    };
  });
}
