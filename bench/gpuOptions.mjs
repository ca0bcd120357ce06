// The options of gpu.mjs beside those of every benchmark: taken from the command line before session.mjs reads the rest.
//   --only dot,gemv   these sections alone
//   --device NAME     this OpenCL device (a part of its name, or its place in the list); else the best
//   --out FILE        where results go; else $OUT/gpu.json where there is such a folder
import { join } from "node:path";

function take(name) {
  const at = process.argv.indexOf(name);
  if (at < 0) return undefined;
  const [, value] = process.argv.splice(at, 2);
  if (value === undefined) throw new Error(`${name} is the last word, expected a value behind it`);
  return value;
}

const words = take("--only")?.split(",");
const device = take("--device");
const out = take("--out") ?? (process.env.OUT && join(process.env.OUT, "gpu.json"));
if (out !== undefined) process.argv.push("--json", out);
// Each timing is a row of calls already.
if (!process.argv.some((word) => word === "--rounds" || word === "--quick")) process.argv.push("--rounds", "9");

export const chosenDevice = /^\d+$/.test(device ?? "") ? Number(device) : device;

/** Those of these sections that were asked for. */
export function chosenOf(sections) {
  const unknown = words?.find((word) => !sections.includes(word));
  if (unknown !== undefined) throw new Error(`--only is ${unknown}, expected some of ${sections.join(",")}`);
  return words ?? sections;
}
