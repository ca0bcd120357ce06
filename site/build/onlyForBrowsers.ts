// Replaces what only Node can use, so that the page does not load it: the engine on OpenCL, whose row in the table of engines then says so.
import type { Plugin } from "vite";

const ID = "\0halfulp:opencl";
const ABSENT = `export const probe = async () => ({ reason: "OpenCL is for Node; browsers have WebGPU" });`;

export function onlyForBrowsers(): Plugin {
  return {
    name: "halfulp:only-for-browsers",
    enforce: "pre",
    resolveId: (source) => (source === "./opencl/index.ts" ? ID : undefined),
    load: (id) => (id === ID ? ABSENT : undefined),
  };
}
