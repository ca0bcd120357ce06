// A thread of the fuzzer: slices of a tenth of a second, each of one routine on one engine, until it is ended or a bit is wrong.
import { parentPort, workerData } from "node:worker_threads";
import { loadOracles } from "./oracles.mjs";
import { ALL, inputOf, judged, LOCAL, minimized, openedEngines, routinesOf, shown } from "./trial.mjs";

const { paths, base, index, only, engines, fault, stop } = workerData;
const SLICE = 100; // milliseconds
const YIELD = 64; // cases between looks at the clock

// Shares of the time, so that ten million calls of level 1 and files, a million matrices and a hundred thousand plans take equally long.
const SHARES = { "level 1": 12, statistics: 6, matrices: 3, "sparse plans": 6, systems: 4, "mutated files": 20 };
// Of the engines; those that are opened run in the first thread alone: a device is one, and a pool has threads of its own.
const ENGINE_SHARES = { functions: 5, "wasm-dekker": 2, "wasm-fma": 1, reference: 1 };

const oracles = await loadOracles(paths);
const available = [...LOCAL, ...(index === 0 ? await openedEngines() : [])].filter(
  (name) => !engines || engines.some((word) => name.includes(word)),
);
const wheelOf = (names) => names.flatMap((name) => new Array(ENGINE_SHARES[name] ?? 2).fill(name));
const [allEngines, localEngines] = [wheelOf(available), wheelOf(available.filter((name) => LOCAL.includes(name)))];
const enginesFor = ({ withoutEngine, synchronous }) => (withoutEngine ? ["none"] : synchronous ? localEngines : allEngines);

const chosen = Object.entries(ALL).filter(
  ([name, one]) => (!only || only.some((word) => `${one.family}, ${name}`.toLowerCase().includes(word))) && enginesFor(one).length > 0,
);
const wheel = chosen.flatMap(([name, { family }]) => new Array(SHARES[family]).fill(name));
const turns = new Map(chosen.map(([name]) => [name, index])); // of each routine among its engines
const opened = new Map();

let seed = (base * 64 + index) * 2 ** 32;
let turn = index;
while (Atomics.load(stop, 0) === 0 && wheel.length > 0) {
  const name = wheel[(turn++ * 7919) % wheel.length];
  const one = ALL[name];
  const engine = enginesFor(one)[(turns.get(name) * 7919) % enginesFor(one).length];
  turns.set(name, turns.get(name) + 1);
  if (!opened.has(engine)) opened.set(engine, engine === "none" ? {} : await routinesOf(engine, fault));
  const routines = opened.get(engine);
  if (!routines) continue;
  parentPort.postMessage({ begins: { name, engine, seed } });
  const begin = performance.now();
  let [cases, elements] = [0, 0];
  do {
    for (let k = 0; k < YIELD; k++, seed++) {
      const input = inputOf(one, seed);
      const wrong = await judged(one, routines, input, oracles);
      if (wrong !== "") {
        await fail({ name, engine, seed, wrong, one, routines, input });
        await new Promise((resolve) => setTimeout(resolve, 1000)); // the main thread ends all of them
      }
      cases++;
      elements += one.elements(input);
      if (engine !== "none" && k % 8 === 7 && performance.now() - begin > SLICE) break;
    }
  } while (performance.now() - begin < SLICE);
  parentPort.postMessage({ done: { name, engine, cases, elements: Math.round(elements), seconds: (performance.now() - begin) / 1000 } });
}

async function fail({ name, engine, seed: at, wrong, one, routines, input }) {
  const smallest = await minimized(one, routines, input, oracles);
  const left = await judged(one, routines, smallest, oracles);
  parentPort.postMessage({ failure: { name, engine, seed: at, wrong, case: shown(smallest), left } });
}
