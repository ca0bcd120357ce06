// The engines of solveTables.mjs: { name, orders, sharing?, open }. The caller closes the engine that `open` returns.
import { open as openOpencl } from "../../dist/opencl.js";
import { main } from "../harness/library.mjs";
import { machine } from "../harness/provenance.mjs";

const SIDES = ["cpu", "gpu"];
const LEVELS = [0, 1, 2];

/** Without a GPU: the calling thread, and pools of threads. */
export function cpuEngines(orders) {
  const { processors } = machine();
  const pools = [...new Set([2, processors])].filter((threads) => threads <= processors);
  return [
    { name: "wasm, one thread", orders, open: () => main.open("wasm") },
    ...pools.map((threads) => ({ name: `${threads} threads`, orders, open: () => main.open("threads", { threads }) })),
  ];
}

/** On a device: everything there; and with panels on the CPU, every look-ahead and either side for each substitution. */
export function deviceEngines(orders, device) {
  const shared = LEVELS.flatMap((lookAhead) =>
    SIDES.flatMap((forward) => SIDES.map((backward) => ({ panel: "cpu", lookAhead, forward, backward }))),
  );
  const alone = { panel: "gpu", forward: "gpu", backward: "gpu" };
  return [
    { name: "the engine's choice", orders, ...opening({}) },
    ...[alone, ...shared].map((sharing) => ({ name: nameOf(sharing), sharing, orders, ...opening(sharing) })),
  ];

  // With a watch the engine waits between phases, so its times are not those of a solve.
  function opening(sharing) {
    const solve = (watch) => ({ ...sharing, ...(watch && { watch }) });
    return { open: (watch) => openOpencl({ device, choices: { solve: solve(watch) } }), watched: true };
  }
}

function nameOf({ panel, lookAhead, forward, backward }) {
  if (panel === "gpu") return "GPU only";
  return `look-ahead ${lookAhead}, forward ${forward.toUpperCase()}, backward ${backward.toUpperCase()}`;
}
