// Under mpirun: the time of a message between two ranks, of a sum over all ranks, of a broadcast and of an allgather, by size, through the
// communicator of src/ranks; and what the lists of indices cost that routines on dense matrices make before they exchange entries.
//   mpirun -n 2 node bench/ranks/messages.mjs [CALLS] [BATCHES]
import { Layout } from "../../dist/ranks/grid.js";
import { Communicator } from "../../dist/ranks/mpi/communicator.js";
import { quantile } from "../harness/race.mjs";

const [calls = 200, batches = 9] = process.argv.slice(2).map(Number);
const SIZES = [8, 320, 2048, 16_384, 131_072, 1_048_576, 8_388_608]; // bytes
const SUM_SIZES = [8, 1992, 16_384, 354_304, 1_417_216]; // bytes: 1992 are those of a call, 354,304 those of a block of extrsv
const LARGE = 100_000; // bytes from which fewer calls are timed

const comm = await Communicator.open(process.env.HALFULP_MPI);
const { rank, size } = comm;
const buffer = (bytes) => new Uint8Array(new ArrayBuffer(bytes));

// Microseconds of a call. The ranks begin together; `call` gets the number of the call.
async function timed(bytes, call) {
  const count = Math.max(4, Math.ceil(bytes < LARGE ? calls : calls / 10));
  const times = [];
  for (let k = 0; k < count; k++) await call(k);
  for (let batch = 0; batch < batches; batch++) {
    await comm.sum(new BigInt64Array(1)).wait();
    const start = performance.now();
    for (let k = 0; k < count; k++) await call(k);
    times.push((1000 * (performance.now() - start)) / count);
  }
  return quantile(times, 0.5);
}

const bySize = async (sizes, run) => {
  const rows = [];
  for (const bytes of sizes) rows.push({ bytes, us: await run(bytes) });
  return rows;
};

// There and back between ranks 0 and 1, halved.
async function message(bytes) {
  const data = buffer(bytes);
  const other = 1 - rank;
  const send = () => comm.exchange([{ rank: other, data }], []).wait();
  const receive = () => comm.exchange([], [{ rank: other, data }]).wait();
  const both = rank === 0 ? [send, receive] : [receive, send];
  const us = await timed(bytes, async () => {
    if (rank < 2) for (const each of both) await each();
  });
  return us / 2;
}

function sum(bytes) {
  const words = new BigInt64Array(new ArrayBuffer(bytes));
  return timed(bytes, () => comm.sum(words).wait());
}

// From one rank after another: the next one has to wait for the data.
function broadcast(bytes) {
  const data = buffer(bytes);
  return timed(bytes, (k) => comm.broadcast(data, k % size).wait());
}

// `bytes` are those of each rank.
function allgather(bytes) {
  const [part, all] = [buffer(bytes), buffer(size * bytes)];
  return timed(size * bytes, () => comm.gatherAll(part, all).wait());
}

// Nanoseconds per index of the lists that redistribute.ts makes for every rank: to write the rows of a rank down, and to pick from them.
function lists(n = 4096) {
  const [from, to] = [new Layout(n, n, 64, [4, 4]), new Layout(n, n, 8, [1, 16])];
  const [make, pick] = [[], []];
  for (let k = 0; k < 40; k++) {
    const start = performance.now();
    const rows = to.rowsOn(k % 16);
    make.push(performance.now() - start);
    const held = rows.filter((i) => from.rowCut.owner(i) === k % 4).map((i) => from.rowCut.local(i));
    pick.push(performance.now() - start - make.at(-1) + 0 * held.length);
  }
  return { makeNs: (1e6 * quantile(make, 0.5)) / n, pickNs: (1e6 * quantile(pick, 0.5)) / n };
}

await message(8); // until the code is compiled
const result = {
  message: await bySize(SIZES, message),
  sum: await bySize(SUM_SIZES, sum),
  broadcast: await bySize(SIZES, broadcast),
  allgather: await bySize(
    SIZES.filter((bytes) => bytes * size <= 64e6),
    allgather,
  ),
  ...lists(),
};
if (rank === 0) console.log(JSON.stringify({ version: comm.library, ranks: size, ...result }));
await comm.close();
