// Kernels from AssemblyScript into two WebAssembly modules, both as text in one generated file (so that a
// plain synchronous import works in Node, browsers and bundlers alike), those in OpenCL C as text in another, then
// TypeScript into dist/.
// With --kernels only the first half, which tests need; with --if-needed only if a source is newer.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "assemblyscript/asc";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const KERNELS = "src/engines/wasm/assembly";
const GENERATED = "src/engines/wasm/modules.generated.ts";
const OPENCL = "src/engines/opencl/kernels";
const SOURCES = "src/engines/opencl/sources.generated.ts";
const onlyKernels = process.argv.includes("--kernels");

// Without comments, which the driver's compiler has no use for.
const texts = readdirSync(OPENCL).map((file) => {
  const text = readFileSync(join(OPENCL, file), "utf8").replace(/^\s*\/\/.*\n/gm, "");
  return `export const ${file.replace(".cl", "")} = ${JSON.stringify(text)};\n`;
});
writeFileSync(SOURCES, `// Generated from kernels/ by scripts/build.mjs.\n${texts.join("")}`);

if (process.argv.includes("--if-needed")) {
  const [target, sources] = onlyKernels ? [GENERATED, [KERNELS]] : ["dist/index.js", ["src", "tsconfig.json"]];
  if (newest(sources) < newest([target])) process.exit();
}

// Compiled for shared memory, where loads stay in their order around atomics: such code is good for any memory. The byte
// behind the import of the memory says which it is.
const IMPORT = Buffer.from([3, ...Buffer.from("env"), 6, ...Buffer.from("memory"), 2]);

const modules = [];
for (const [name, features] of [
  ["FMA", "simd,relaxed-simd,threads"],
  ["DEKKER", "simd,threads"],
]) {
  const bytes = await compile(features);
  const shared = bytes.indexOf(IMPORT) + IMPORT.length;
  if (bytes[shared] !== 3) throw new Error("The kernels do not import a shared memory");
  bytes[shared] = 1;
  modules.push(`export const ${name} = {\n  shared: ${shared},\n  base64:\n    "${bytes.toString("base64")}",\n};\n`);
}
writeFileSync(
  GENERATED,
  `// Generated from assembly/ by scripts/build.mjs.\n// \`shared\` is the index of the byte that is 3 in a module for shared memory, and 1 otherwise.\n${modules.join("")}`,
);

if (!onlyKernels) {
  rmSync("dist", { recursive: true, force: true });
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"], { stdio: "inherit" });
}

async function compile(features) {
  let binary;
  const flags = [
    "-O3",
    "--noAssert",
    "--runtime",
    "stub",
    "--importMemory",
    "--maximumMemory",
    "65536",
    "--sharedMemory",
    "--enable",
    features,
  ];
  const { error, stderr } = await main([`${KERNELS}/index.ts`, ...flags, "--outFile", "kernels.wasm"], {
    writeFile: (_name, contents) => {
      binary = contents;
    },
  });
  if (error) throw new Error(`AssemblyScript: ${error.message}\n${stderr}`);
  return Buffer.from(binary);
}

/** The latest change below these paths, in milliseconds; -Infinity where there is nothing. */
function newest(paths) {
  let latest = Number.NEGATIVE_INFINITY;
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) latest = Math.max(latest, newest(readdirSync(path).map((name) => join(path, name))));
    else if (stat) latest = Math.max(latest, stat.mtimeMs);
  }
  return latest;
}
