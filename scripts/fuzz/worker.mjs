// A thread of the fuzzer: slices of a tenth of a second, each of one routine on one engine, until it is ended or a bit is wrong.
import { parentPort, workerData } from "node:worker_threads";
import { loadOracles } from "./oracles.mjs";
import { ALL, inputOf, judged, LOCAL, minimized, openedEngines, routinesOf, shown } from "./trial.mjs";

const { paths, base, index, only, engines, fault, stop } = workerData;
const SLICE = 100; // milliseconds
const YIELD = 64; // cases between looks at the clock

// Shares of the time of each routine, so that ten million calls of level 1 and files, a million matrices and a hundred thousand plans take
// equally long at the rates of the synchronous functions: 60,000 calls, 100,000 files, 27,000 matrices and 12,000 plans per second.
const SHARES = { "level 1": 24, statistics: 8, matrices: 5, "sparse plans": 10, systems: 6, "mutated files": 27 };
// Of the engines; those that are opened run in the first thread alone: a device is one, and a pool has threads of its own.
const ENGINE_SHARES = { functions: 5, "wasm-dekker": 2, "wasm-fma": 1, reference: 1 };

const oracles = await loadOracles(paths);
const available = [...LOCAL, ...(index === 0 ? await openedEngines() : [])].filter(
  (name) => !engines || engines.some((word) => name.includes(word)),
);
const wheelOf = (names) => names.flatMap((name) => new Array(ENGINE_SHARES[name] ?? 1).fill(name));
const [allEngines, localEngines] = [wheelOf(available), wheelOf(available.filter((name) => LOCAL.includes(name)))];
const enginesFor = ({ withoutEngine, synchronous }) => (withoutEngine ? ["none"] : synchronous ? localEngines : allEngines);

const chosen = Object.entries(ALL).filter(
  ([name, one]) => (!only || only.some((word) => `${one.family}, ${name}`.toLowerCase().includes(word))) && enginesFor(one).length > 0,
);
const turns = new Map(chosen.map(([name]) => [name, 0]));
const opened = new Map();

// The routine that lags furthest behind its share, so that each has a turn before any has a second; and the next of its engines.
function next() {
  const lag = ([name, { family }]) => turns.get(name) / SHARES[family];
  const [name, one] = chosen.reduce((a, b) => (lag(b) < lag(a) ? b : a));
  const turn = turns.get(name);
  turns.set(name, turn + 1);
  const those = enginesFor(one);
  return { name, one, engine: those[((turn + index) * 7919) % those.length] };
}

let seed = (base * 64 + index) * 2 ** 32;
while (Atomics.load(stop, 0) === 0 && chosen.length > 0) {
  const { name, one, engine } = next();
  if (!opened.has(engine)) opened.set(engine, engine === "none" ? {} : await routinesOf(engine, fault));
  const routines = opened.get(engine);
  if (!routines) continue;
  Error.stackTraceLimit = engine === "none" ? 0 : 10; // damaged files throw a million errors; --repeat has the stack of one
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
