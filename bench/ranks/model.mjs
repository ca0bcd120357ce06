// What the routines of halfulp/mpi cost on 1 to 10,000 ranks: a model of their time and memory, calibrated with the results of
// bench/ranks.mjs. scripts/scalingDocs.mjs writes its tables into docs/mpi-scaling.md, which has the formulas in words. To print them:
//   node bench/ranks/model.mjs
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The one place to edit: what is assumed, not measured. */
const ASSUMED = {
  network: { latency: 2e-6, bandwidth: 10e9 }, // of a cluster: s for a message, bytes/s of each rank
  perRank: 1e-6, // s for each rank without entries in an exchange of entries: several short lists and objects
  corrections: 3, // of solve()
  memory: 4 * 2 ** 30, // bytes of a rank: engine memory has 32-bit addresses
};
/** The results that calibrate the tables for a cluster. Others are only compared with the model. */
const CALIBRATION = "ranks-20.json";

// What src/ranks says: the bytes of a call's first exchange, of the sums of a block of extrsv and of its unknowns, of a proposed pivot, ...
const CALL = 1992;
const TRSV = { block: 256, sums: 354_304, unknowns: 2048, parts: 4 }; // blocks of 64 columns: at most four of a block lie on different ranks
const LU = { block: 32, group: 8, message: 320, strip: 2 ** 19 };
const UNCOLLECTED = 2 ** 21; // numbers, probably in messages that wait for garbage collection: fitted to peaks of exlu on 1, 2 and 4 ranks
const GEMM_STRIP = 2 ** 22;
const RESTART = 30; // of gmres
const SUPERACCUMULATOR = 1800; // bytes

const RANKS = [1, 4, 16, 64, 256, 1024, 4096, 10_000];
const SEARCHED = [...Array.from({ length: 14 }, (_, k) => 2 ** k), 10_000];

const folder = join(dirname(fileURLToPath(import.meta.url)), "../results");
const read = (name) => ({ name, ...JSON.parse(readFileSync(join(folder, name), "utf8")) });

/** Markdown tables by name. */
export function tables() {
  const files = readdirSync(folder).filter((name) => /^ranks.*\.json$/.test(name));
  const base = read(CALIBRATION);
  const rates = calibrated(base.results);
  const model = new Model(rates, ASSUMED.network);
  return {
    constants: () => constantsTable(base, rates),
    times: () => timesTable(model),
    stops: () => stopsTable(model),
    memory: () => memoryTable(),
    measured: () => measuredTable(files.map(read), base),
  };
}

const SEVERAL = undefined;

/** The run of a case on this number of ranks; with SEVERAL the first on more than one. */
function runOf({ cases }, section, name, ranks, n) {
  const found = cases.find((each) => each.section === section && each.name === name && (n === undefined || each.n === n));
  const run = found?.runs.find((each) => (ranks === SEVERAL ? each.ranks > 1 : each.ranks === ranks) && !each.failed);
  return run && { ...run, n: found.n };
}

const least = (values) => {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
};

// Seconds per unit of work, and of exchanges with the library whose messages are fastest, or the given one. Work on one rank is the same
// with every library: the least time counts. What a file does not have is that of `otherwise`.
function calibrated(libraries, otherwise = {}, library) {
  const rate = (name, section, work, ranks) =>
    least(
      libraries.map((results) => {
        const run = runOf(results, section, name, ranks);
        const ms = section === "level1" ? run?.longMs : run?.ms;
        return ms === undefined ? undefined : ms / 1000 / work(run);
      }),
    );
  const measured = {
    exdot: rate("exdot", "level1", ({ n }) => n, 1),
    exgemv: rate("exgemv", "dense", ({ n }) => n ** 2, 1),
    exgemm: rate("exgemm", "dense", ({ n }) => n ** 3, 1),
    exlu: rate("exlu", "dense", ({ n }) => n ** 3 / 3, 1),
    gather: rate("gather", "dense", ({ n }) => n ** 2, 1),
    enclosure: rate("enclosures", "dense", ({ n, ranks }) => n * ranks, SEVERAL),
    grid: ofGrid(libraries.flatMap((results) => runOf(results, "cg", "cg", 1) ?? [])),
    ...substitution(libraries),
    ...(library ? [library] : libraries)
      .flatMap((results) => runOf(results, "messages", "messages", SEVERAL) ?? [])
      .map(exchanges)
      .sort((a, b) => a.network.latency - b.network.latency)[0],
  };
  return { ...otherwise, ...Object.fromEntries(Object.entries(measured).filter(([, value]) => value !== undefined)) };
}

// By method, per node.
function ofGrid(runs) {
  if (runs.length === 0) return undefined;
  const methods = Object.keys(runs[0].ms);
  return Object.fromEntries(methods.map((method) => [method, least(runs.map(({ n, ms }) => ms[method] / 1000 / n ** 3))]));
}

// extrsv of two orders: the time of a block, and of a product.
function substitution(libraries) {
  const orders = [...new Set(libraries.flatMap(({ cases }) => cases.filter(({ name }) => name === "extrsv").map(({ n }) => n)))];
  const [small, large] = orders.map((n) => ({ n, ms: least(libraries.map((results) => runOf(results, "dense", "extrsv", 1, n)?.ms)) }));
  if (large?.ms === undefined || small.ms === undefined) return {};
  // seconds = (n / 256) block + (n^2 / 2) products
  const perRow = ({ n, ms }) => ms / 1000 / n;
  const products = Math.max(0, (2 * (perRow(large) - perRow(small))) / (large.n - small.n));
  return { products, block: Math.max(0, (perRow(small) - (small.n / 2) * products) * TRSV.block) };
}

// The network of the machine that was measured, and what it takes to start an exchange there, beside its messages.
function exchanges({ ranks, message, sum, broadcast, allgather, makeNs, pickNs }) {
  const at = (rows, bytes) => rows.find((row) => row.bytes === bytes).us / 1e6;
  const [small, large] = message.slice(-2);
  const latency = Math.min(...message.filter(({ bytes }) => bytes <= 2048).map(({ us }) => us)) / 1e6;
  const network = { latency, bandwidth: (1e6 * (large.bytes - small.bytes)) / (large.us - small.us) };
  const beside = (s) => Math.max(0, s - Math.log2(ranks) * latency);
  return {
    network,
    starting: {
      sum: beside(at(sum, CALL)),
      broadcast: beside(at(broadcast, 320)),
      allgather: beside(at(allgather, 320)),
      message: latency / 2,
    },
    make: makeNs / 1e9,
    pick: pickNs / 1e9,
  };
}

const steps = (p) => Math.ceil(Math.log2(p));

/** The grid of ranks that matrices have by default. */
function gridOf(p) {
  let rows = Math.floor(Math.sqrt(p));
  while (p % rows !== 0) rows--;
  return [rows, p / rows];
}

/** Seconds of the routines on p ranks. */
class Model {
  constructor(rates, network) {
    this.rates = rates;
    this.network = network;
  }

  // Exchanges by trees of messages. Long ones are cut up, so that every rank sends and receives the bytes about twice.
  sum(p, bytes) {
    return this.exchange("sum", 1, p, bytes * Math.min(steps(p), 2));
  }

  broadcasts(number, p, bytes) {
    return this.exchange("broadcast", number, p, bytes * Math.min(steps(p), 2));
  }

  allgather(p, bytesOfEach) {
    return this.exchange("allgather", 1, p, bytesOfEach * (p - 1));
  }

  exchange(kind, number, p, bytes) {
    if (p === 1) return 0;
    const { latency, bandwidth } = this.network;
    return number * this.rates.starting[kind] + steps(p) * latency + bytes / bandwidth;
  }

  call(p) {
    return this.sum(p, CALL);
  }

  exdot(n, p) {
    return (this.rates.exdot * n) / p + this.call(p);
  }

  exgemv(n, p, [rows, cols] = gridOf(p)) {
    const { exgemv, enclosure } = this.rates;
    if (cols === 1) return (exgemv * n ** 2) / p + this.call(p) + this.allgather(p, (8 * n) / p);
    return (2 * exgemv * n ** 2) / p + this.call(p) + this.allgather(p, (16 * n) / rows) + n * cols * enclosure;
  }

  // With the grid [p, 1].
  exgemvByRows(n, p) {
    return this.exgemv(n, p, [p, 1]);
  }

  exgemm(n, p) {
    const { exgemm, gather, pick } = this.rates;
    const [rows, cols] = gridOf(p);
    const { bytes, exchanges } = gemmTraffic(n, p);
    const messages = p === 1 ? 0 : exchanges * ((rows + cols) / 2) * this.network.latency + bytes / this.network.bandwidth;
    return (exgemm * n ** 3) / p + this.call(p) + exchanges * p * n * pick + ((2 * bytes) / 8) * gather + messages;
  }

  extrsv(n, p) {
    const { block, products } = this.rates;
    const [rows, cols] = gridOf(p);
    const each = block + this.sum(p, TRSV.sums) + this.broadcasts(1, p, TRSV.unknowns) + p * ASSUMED.perRank;
    return ((n ** 2 / 2) * products) / (rows * Math.min(cols, TRSV.parts)) + Math.ceil(n / TRSV.block) * each + this.call(p);
  }

  exlu(n, p) {
    const { exlu, gather, make, pick } = this.rates;
    const compute = (exlu * n ** 3) / 3 / Math.min(p, Math.ceil(n / LU.group));
    const columns = n * this.allgather(p, LU.message);
    const blocks = Math.ceil(n / LU.block);
    const panels = blocks * this.broadcasts(LU.block / LU.group, p, 8 * LU.block * n);
    const rows = blocks * this.broadcasts(Math.min(LU.block, p), p, (8 * LU.block * n) / 2);
    const strips = Math.ceil(n ** 2 / (LU.strip * p));
    const lists = strips * p * (n + n / gridOf(p)[0]) * (make + 2 * pick);
    const copies = (4 * gather * n ** 2) / p + (p === 1 ? 0 : (16 * n ** 2) / p / this.network.bandwidth);
    return compute + columns + panels + rows + lists + copies + this.call(p);
  }

  // Factors, the inverses of both, by columns, and corrections: each a residual and two products with the inverses, all by rows.
  solve(n, p) {
    const { exgemm, exgemv, gather } = this.rates;
    const blocks = Math.ceil(n / LU.block);
    const inverse = (exgemm * n ** 3) / 6 / p + blocks * this.broadcasts(1, p, 8 * LU.block * n);
    const copies = (6 * gather * n ** 2) / p + (p === 1 ? 0 : (24 * n ** 2) / p / this.network.bandwidth);
    const products = (4 + 3 * ASSUMED.corrections) * ((exgemv * n ** 2) / p + this.allgather(p, (8 * n) / p));
    return this.exlu(n, p) + 2 * inverse + copies + products;
  }

  // On a grid of side^3 nodes, in blocks of rows.
  halo(side, p) {
    if (p === 1) return 0;
    const messages = Math.min(p - 1, 2 * Math.ceil((side ** 2 * p) / side ** 3));
    const { latency, bandwidth } = this.network;
    return latency + messages * this.rates.starting.message + (2 * 8 * side ** 2) / bandwidth;
  }

  exspmv(side, p) {
    return (this.rates.grid.exspmv * side ** 3) / p + this.halo(side, p) + this.call(p) + this.allgather(p, 4);
  }

  iteration(method, products, sums, side, p) {
    return (this.rates.grid[method] * side ** 3) / p + products * this.halo(side, p) + sums * this.sum(p, CALL);
  }

  cg(side, p) {
    return this.iteration("cg-none", 1, 3, side, p);
  }

  bicgstab(side, p) {
    return this.iteration("bicgstab-none", 2, 6, side, p);
  }

  gmres(side, p) {
    return this.iteration("gmres-none", 1, RESTART / 2 + 1.5, side, p);
  }
}

// What a rank collects, and in how many exchanges: B by strips of columns; A by strips of rows, again for every strip of B.
function gemmTraffic(n, p) {
  const [rows, cols] = gridOf(p);
  const length = Math.max(1, Math.floor(GEMM_STRIP / n));
  const rowStrips = Math.ceil(n / rows / length);
  const colStrips = Math.ceil(n / cols / length);
  const again = rowStrips > 1 ? colStrips : 1;
  return { bytes: 8 * n * (n / cols + (n / rows) * again), exchanges: colStrips + rowStrips * again };
}

/** Bytes of a rank. */
const MEMORY = {
  exdot: (n, p) => (16 * n) / p,
  exgemv: (n, p) => (8 * n ** 2) / p + 32 * n + 16 * n * gridOf(p)[1],
  exgemvByRows: (n, p) => (8 * n ** 2) / p + 48 * n,
  exgemm: (n, p) => (32 * n ** 2) / p + 32 * Math.min(GEMM_STRIP, n ** 2 / gridOf(p)[0]),
  extrsv: (n, p) => (8 * n ** 2) / p + (SUPERACCUMULATOR * n) / gridOf(p)[0] + 24 * n + 2 * TRSV.sums,
  exlu: (n, p) => (24 * n ** 2) / p + 2 * 8 * LU.block * n + LU.message * p + 16 * Math.min(UNCOLLECTED, n ** 2 / p),
  solve: (n, p) => (56 * n ** 2) / p + 8 * LU.block * n, // A, its rows, the factors, two inverses, and one by columns and in messages
  exspmv: (side, p) => ((7 * 16 + 4 + 4 * 8) * side ** 3) / p + 32 * side ** 2, // the matrix, x, y and copies of them
  cg: (side, p) => MEMORY.exspmv(side, p) + (6 * 8 * side ** 3) / p,
  bicgstab: (side, p) => MEMORY.exspmv(side, p) + (9 * 8 * side ** 3) / p,
  gmres: (side, p) => MEMORY.exspmv(side, p) + ((RESTART + 6) * 8 * side ** 3) / p,
};

// The sizes of the tables: the first for times and memory.
const SIZES = {
  exdot: [1e10, 1e8],
  exgemv: [65_536, 8192],
  exgemvByRows: [65_536, 8192],
  exgemm: [32_768, 8192],
  extrsv: [65_536, 8192],
  exlu: [32_768, 8192],
  solve: [32_768, 8192],
  exspmv: [512, 128],
  cg: [512, 128],
  bicgstab: [512, 128],
  gmres: [512, 128],
};
// Routines on grids, by their names in the results.
const ON_GRID = { exspmv: "exspmv", "cg-none": "cg", "bicgstab-none": "bicgstab", "gmres-none": "gmres" };
const ROUTINES = Object.keys(SIZES);
const onGrid = (routine) => Object.values(ON_GRID).includes(routine);

function nameOf(routine, n) {
  const iteration = "an iteration, ";
  const what = { exgemvByRows: "grid [p, 1], ", cg: iteration, bicgstab: iteration, gmres: iteration }[routine] ?? "";
  return `\`${routine.replace("ByRows", "")}\`, ${what}${onGrid(routine) ? `${n}^3` : grouped(n)}`;
}

function timesTable(model) {
  const rows = ROUTINES.map((routine) => {
    const [n] = SIZES[routine];
    const fits = (p) => MEMORY[routine](n, p) <= ASSUMED.memory;
    return [nameOf(routine, n), ...RANKS.map((p) => (fits(p) ? duration(model[routine](n, p)) : `(${duration(model[routine](n, p))})`))];
  });
  return table(["ranks", ...RANKS.map(grouped)], rows);
}

function memoryTable() {
  const rows = ROUTINES.map((routine) => {
    const [n] = SIZES[routine];
    return [nameOf(routine, n), ...RANKS.map((p) => size(MEMORY[routine](n, p)))];
  });
  return table(["ranks", ...RANKS.map(grouped)], rows);
}

// The most ranks that are at least half as fast each as one, and the number of ranks with the least time.
function stopsTable(model) {
  const rows = ROUTINES.flatMap((routine) =>
    SIZES[routine].map((n) => {
      const time = (p) => model[routine](n, p);
      const half = SEARCHED.filter((p) => time(1) / (p * time(p)) >= 0.5).at(-1);
      const fastest = SEARCHED.reduce((best, p) => (time(p) < time(best) ? p : best), 1);
      return [nameOf(routine, n), grouped(half), grouped(fastest), figure(time(1) / time(fastest))];
    }),
  );
  return table(["", "at least half as efficient as one rank, up to ranks", "fastest with ranks", "speed-up there"], rows);
}

// Measured and modelled, with the rates and the network of the machine itself.
function measuredTable(files, base) {
  const rows = files.flatMap((file) =>
    file.results.flatMap((results) => {
      const model = new Model(calibrated(file.results, calibrated(base.results), results));
      model.network = model.rates.network;
      const machine = `${file.cores} cores, ${results.library}`;
      return results.cases.flatMap(({ section, name, n, runs }) =>
        runs
          .filter(({ ranks, failed }) => ranks > 1 && ranks <= file.cores && !failed)
          .flatMap((run) => comparisons(model, { section, name, n, run }).map((cells) => [machine, ...cells])),
      );
    }),
  );
  return table(["machine", "ranks", "", "measured", "model"], rows);
}

function comparisons(model, { section, name, n, run }) {
  const { ranks } = run;
  const cells = (routine, ms) => [String(ranks), nameOf(routine, n), duration(ms / 1000), duration(model[routine](n, ranks))];
  if (section === "level1") return run.longMs === undefined ? [] : [cells("exdot", run.longMs)];
  if (section === "cg")
    return Object.entries(ON_GRID)
      .filter(([method]) => method in run.ms)
      .map(([method, routine]) => cells(routine, run.ms[method]));
  if (section === "memory")
    return [[String(ranks), `memory of \`exlu\`, ${grouped(n)}`, size(1e6 * run.peakMB), size(MEMORY.exlu(n, ranks))]];
  return ROUTINES.includes(name) ? [cells(name, run.ms)] : [];
}

function constantsTable({ machine, versions, cores }, rates) {
  const { network, starting, grid } = rates;
  const us = (s) => `${figure(1e6 * s)} µs`;
  const ns = (s) => `${figure(1e9 * s)} ns`;
  const where = `measured, ${machine.processor}, ${cores} cores, Node ${versions.node}`;
  const rows = [
    ["`exdot`, per element", ns(rates.exdot), where],
    ["`exgemv`, per entry of the matrix", ns(rates.exgemv), where],
    ["`exgemv`, per row and part of it, where rows are spread", ns(rates.enclosure), where],
    ["`exgemm`, per product", ns(rates.exgemm), where],
    ["`exlu`, per product (n^3 / 3 of them)", ns(rates.exlu), where],
    ["`extrsv`, per product; per block of 256 unknowns", `${ns(rates.products)}; ${us(rates.block)}`, where],
    ["copy of an entry between a matrix and a message", ns(rates.gather), where],
    ["lists of indices, per index: to make, to pick from", `${ns(rates.make)}, ${ns(rates.pick)}`, where],
    [
      "`exspmv`; an iteration of `cg`, `bicgstab`, `gmres`: per node of a grid",
      Object.keys(ON_GRID)
        .map((method) => ns(grid[method]))
        .join("; "),
      where,
    ],
    [
      "to start a sum, a broadcast, an allgather",
      [starting.sum, starting.broadcast, starting.allgather].map(us).join(", "),
      `${where}; without the latency`,
    ],
    ["a message between two ranks of one machine", `${us(network.latency)}, ${figure(network.bandwidth / 1e9)} GB/s`, where],
    [
      "a message in the network of a cluster",
      `${us(ASSUMED.network.latency)}, ${ASSUMED.network.bandwidth / 1e9} GB/s per rank`,
      "assumed",
    ],
    ["in an exchange of entries, per rank that takes no part", us(ASSUMED.perRank), "assumed"],
    ["corrections of `solve`", String(ASSUMED.corrections), "assumed"],
  ];
  return table(["", "", ""], rows);
}

function duration(s) {
  if (s < 1e-3) return `${figure(1e6 * s)} µs`;
  if (s < 1) return `${figure(1e3 * s)} ms`;
  if (s < 120) return `${figure(s)} s`;
  return s < 7200 ? `${figure(s / 60)} min` : `${figure(s / 3600)} h`;
}

function size(bytes) {
  return bytes < 1e9 ? `${figure(bytes / 1e6)} MB` : `${figure(bytes / 1e9)} GB`;
}

// Two significant digits.
function figure(value) {
  const rounded = Number(value.toPrecision(2));
  return rounded >= 10_000 ? grouped(rounded) : String(rounded);
}

function grouped(n) {
  return n.toLocaleString("en");
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, make] of Object.entries(tables())) console.log(`${name}\n${make()}\n`);
