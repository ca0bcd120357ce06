// One case of the fuzzer: made from its seed, run, judged, and made smaller if it is wrong. Called by the workers and by --repeat.
import * as functionsOfStatistics from "../../dist/api/statistics.js";
import { everyOpening, synchronousFunctions } from "../../dist/cli/engines.js";
import { statistics } from "../../dist/routines/statistics.js";
import { kernels, LOCAL_ENGINES, routinesOn } from "../../dist/study.js";
import { withFault } from "../everywhere/fault.mjs";
import { CASES, inputsOf } from "./cases.mjs";
import { FILES } from "./files.mjs";

export const ALL = { ...CASES, ...FILES };
export const LOCAL = ["functions", ...LOCAL_ENGINES];
const POOLS = [2, 3];

/** The names of the engines that can be opened here. */
export async function openedEngines() {
  return (await everyOpening(POOLS)).openings.filter(({ synchronous }) => !synchronous).map(({ name }) => name);
}

/** The routines of an engine by its name; undefined where this machine cannot run it. */
export async function routinesOf(name, fault) {
  const { routines: functions } = await synchronousFunctions().open();
  const wrapped = (routines) => (fault ? withFault(routines, { routine: fault, period: 1 }) : routines);
  if (name === "functions") return wrapped({ ...functions, ...functionsOfStatistics });
  if (LOCAL_ENGINES.includes(name)) {
    const local = kernels(name);
    return local && wrapped({ ...functions, ...routinesOn(local), ...statistics(() => local) });
  }
  const opening = (await everyOpening(POOLS)).openings.find((each) => !each.synchronous && each.name === name);
  return opening && wrapped((await opening.open()).routines);
}

let contradictions = 0; // of the oracles in this thread, so far

/** "" if the result is right, else what is wrong. An error that the library throws on purpose is no result: the case must expect it. */
export async function judged(one, routines, input, oracles) {
  let found;
  try {
    found = await one.run(routines, input);
  } catch (error) {
    return `threw ${error?.stack ?? error}`;
  }
  const wrong = one.judge(input, found, oracles);
  const before = contradictions;
  contradictions = oracles.disagreements();
  return contradictions === before ? wrong : "the oracles contradict each other";
}

export const inputOf = (one, seed) => one.make(inputsOf(seed));

const TRIES = 3000;

/** The smallest wrong case that leaving out and simplifying leads to. */
export async function minimized(one, routines, input, oracles) {
  let smallest = input;
  let tries = 0;
  for (let shrinks = true; shrinks && tries < TRIES; ) {
    shrinks = false;
    for (const candidate of one.shrink(smallest)) {
      if (++tries > TRIES) break;
      if ((await judged(one, routines, candidate, oracles)) === "") continue;
      smallest = candidate;
      shrinks = true;
      break;
    }
  }
  return smallest;
}

/** A case as text: numbers as they are, and the bits of arrays. */
export function shown(value) {
  if (ArrayBuffer.isView(value)) {
    if (value instanceof Uint8Array) return JSON.stringify(String.fromCharCode(...value));
    if (!(value instanceof Float64Array || value instanceof Float32Array)) return `[${value}]`;
    const width = 2 * value.BYTES_PER_ELEMENT;
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
    const bits = (i) => (width === 16 ? view.getBigUint64(8 * i, true) : view.getUint32(4 * i, true)).toString(16).padStart(width, "0");
    return `[${Array.from(value, (v, i) => `${v} (${bits(i)})`).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, each]) => `${name}: ${shown(each)}`)
      .join(", ")} }`;
  return JSON.stringify(value) ?? String(value);
}
