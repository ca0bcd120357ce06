// The limits of level 1, from the cases of level1.mjs measured in the same run.
import { WELL_CONDITIONED } from "../harness/data.mjs";
import { ENGINES, engines } from "../harness/library.mjs";
import { ENGINE_MEMORY, isOurs, MEMORIES, ORDINARY_ARRAY, ourName } from "../harness/ours.mjs";
import { count, ratio } from "../harness/table.mjs";
import { isExactPeer } from "./rivals.mjs";

const [FMA, NO_FMA] = ENGINES;

/** Rows of { row, value, unit, limit, aim }; a value is undefined where it was not measured. */
export function limits(cases, { longest, hard, sizes }) {
  const best = engines[0]?.name; // the one that users get
  const labels = { [FMA]: "FMA", [NO_FMA]: "no FMA" };
  return [
    toOpenBlas("dot", FMA, [1.35, 2.1], [1.15, 1.7]),
    toOpenBlas("dot", NO_FMA, [2.0, 2.8]),
    toOpenBlas("sum", best, [1.7, 2.2], [1.4]),
    toWellConditioned("condition 1e30", 3),
    toWellConditioned("exponents ±300", 1.5),
    slowestCall(10, 200),
    slowestCall(1000, 1500),
    // xsum with TwoProd in C, and ReproBLAS with a fold of 3, each on the machine where it was measured (shared/PEERS.md)
    { row: `exdot, ${ENGINE_MEMORY}, n = ${count(longest)}`, value: perElement("dot"), unit: " ns/element", limit: 3.3 },
    { row: `exsum, ${ENGINE_MEMORY}, n = ${count(longest)}`, value: perElement("sum"), unit: " ns/element", limit: 1.0 },
    sizes.filter((n) => n >= 100).map(toFastestPeer),
  ].flat(2);

  function rivalsOf(op, kind, n) {
    return cases.find((one) => one.op === op && one.kind === kind && one.n === n)?.rivals ?? [];
  }

  function time(op, kind, n, engine, memory) {
    return rivalsOf(op, kind, n).find(({ name }) => name === ourName(op, engine, memory))?.median;
  }

  function toOpenBlas(op, engine, limit, aim = []) {
    const baseline = rivalsOf(op, WELL_CONDITIONED, longest).find(({ name }) => name.startsWith("OpenBLAS"));
    const label = op === "dot" ? `exdot, ${labels[engine]}, / ddot` : "exsum / dasum";
    return MEMORIES.map((memory, i) => ({
      row: `${label}, ${memory}, n = ${count(longest)}`,
      value: ratio(time(op, WELL_CONDITIONED, longest, engine, memory), baseline?.median),
      unit: "",
      limit: limit[i],
      aim: aim[i],
    }));
  }

  function toWellConditioned(kind, limit) {
    const routines = [
      ["exdot, FMA", "dot", FMA],
      ["exdot, no FMA", "dot", NO_FMA],
      ["exsum", "sum", best],
    ];
    return routines.map(([label, op, engine]) =>
      MEMORIES.map((memory) => ({
        row: `${label}, ${kind} / ${WELL_CONDITIONED}, ${memory}, n = ${count(hard)}`,
        value: ratio(time(op, kind, hard, engine, memory), time(op, WELL_CONDITIONED, hard, engine, memory)),
        unit: "",
        limit,
      })),
    );
  }

  // The maximum over routines, engines and memories.
  function slowestCall(n, limit) {
    const calls = cases.filter((one) => one.n === n).flatMap(({ op, rivals }) => rivals.filter((rival) => isOurs(op, rival)));
    const slowest = calls.reduce((a, b) => (b.median > a.median ? b : a));
    return { row: `the slowest call with n = ${count(n)}: ${slowest.name}`, value: slowest.median, unit: " ns", limit };
  }

  function perElement(op) {
    return ratio(time(op, WELL_CONDITIONED, longest, best, ENGINE_MEMORY), longest);
  }

  // On ordinary arrays, which is what the peers take.
  function toFastestPeer(n) {
    const peers = rivalsOf("sum", WELL_CONDITIONED, n).filter(isExactPeer);
    const fastest = peers.reduce((a, b) => (b.median < a.median ? b : a));
    const value = ratio(time("sum", WELL_CONDITIONED, n, best, ORDINARY_ARRAY), fastest.median);
    return { row: `exsum / the fastest exact peer (${fastest.name}), n = ${count(n)}`, value, unit: "", limit: 1 };
  }
}
