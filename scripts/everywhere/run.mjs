// Runs the corpus in this process and prints the hashes as a line of JSON. everywhere.mjs starts it in every runtime that runs programs
// (Node, Deno, Bun, on emulated processors too):
//   node scripts/everywhere/run.mjs '{ "opening": "threads, 3", "corpus": "full" }'
// Openings are "functions", a build of the kernels ("wasm-fma", "wasm-dekker", "reference"), and every configuration in the table of
// engines. "list" prints those that this machine has.
import process from "node:process";
import { withFault } from "./fault.mjs";

const { opening, corpus = "short", only, withoutWebAssembly = false, pools = [1, 2, 3, 7, 16], fault } = JSON.parse(process.argv[2]);
if (withoutWebAssembly) delete globalThis.WebAssembly;

// Loaded now: what the library finds when it is loaded decides which kernels it takes.
const part = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { everyOpening, synchronousFunctions } = await part("cli/engines.js");

if (opening === "list") {
  const { openings, missing } = await everyOpening(pools);
  console.log(JSON.stringify({ openings: openings.map(({ name, synchronous }) => ({ name, synchronous })), missing }));
} else {
  const { hashes } = await part("everywhere/corpus.js");
  const { routines, device, close } = await open();
  const begin = performance.now();
  const found = await hashes(fault ? withFault(routines, fault) : routines, { corpus, only });
  const seconds = (performance.now() - begin) / 1000;
  await close();
  console.log(JSON.stringify({ device, version: version(), seconds, hashes: found }));
  process.exit(); // a runtime may wait for workers
}

async function open() {
  if (opening === "functions") return synchronousFunctions().open();
  const { kernels, LOCAL_ENGINES, routinesOn } = await part("study.js");
  if (LOCAL_ENGINES.includes(opening)) {
    const local = kernels(opening);
    if (!local) throw new Error(`this runtime cannot run the kernels ${opening}`);
    const { routines } = await synchronousFunctions().open(); // for the iterative solvers
    const { statistics } = await part("routines/statistics.js");
    return { routines: { ...routines, ...routinesOn(local), ...statistics(() => local) }, device: local.name, close: async () => {} };
  }
  const { openings, missing } = await everyOpening(pools);
  const found = openings.find(({ name, synchronous }) => !synchronous && name === opening);
  if (!found) throw new Error(missing.find(({ kind }) => opening.startsWith(kind))?.reason ?? `there is no ${opening} here`);
  return found.open();
}

function version() {
  if (globalThis.Deno) return `Deno ${globalThis.Deno.version.deno}`;
  if (process.versions.bun) return `Bun ${process.versions.bun}`;
  return `Node ${process.versions.node}`;
}
