// Runs a script in QuickJS, compiled to WebAssembly (npm quickjs-emscripten): an interpreter without WebAssembly of its own. Prints what the
// script printed. A process of its own, so that it can be ended.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { getQuickJS } from "quickjs-emscripten";

const { version } = createRequire(import.meta.url)("quickjs-emscripten/package.json");
const context = (await getQuickJS()).newContext();
const print = context.newFunction("print", (text) => {
  console.log(JSON.stringify({ ...JSON.parse(context.getString(text)), version: `quickjs-emscripten ${version}` }));
});
context.setProp(context.global, "print", print);
context.unwrapResult(context.evalCode(readFileSync(process.argv[2], "utf8"))).dispose();
context.unwrapResult(context.runtime.executePendingJobs());
