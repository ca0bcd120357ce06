// The build (npm run build). It compiles the AssemblyScript kernels to two WebAssembly modules, one for vectors and one for matrices, which
// programs without matrix routines do not load; writes two builds of each as a string into a generated file, so that a synchronous import
// works in Node, browsers and bundlers; writes the OpenCL and WGSL kernels as text into generated files; and compiles TypeScript to dist/.
// --kernels stops before TypeScript, which is all that tests need; --if-needed does nothing if no source is newer than the output.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "assemblyscript/asc";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const KERNELS = "src/engines/wasm/assembly";
const GENERATED = (entry) => `src/engines/wasm/${entry}.generated.ts`;
const DEVICE_KERNELS = { "src/engines/opencl": ".cl", "src/engines/webgpu": ".wgsl" };
const onlyKernels = process.argv.includes("--kernels");

// The OpenCL and WGSL kernels of each folder as text next to their host code, without comments and needless space.
for (const [engine, extension] of Object.entries(DEVICE_KERNELS))
  for (const part of readdirSync(engine, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(engine, part.name);
    const files = readdirSync(folder).filter((file) => file.endsWith(extension));
    if (files.length === 0) continue;
    const texts = files.map((file) => {
      const lines = readFileSync(join(folder, file), "utf8")
        .replace(/ *\/\/.*$/gm, "")
        .replace(/^\s+/gm, "")
        .replace(/ +/g, " ");
      // OpenCL C has lines of the preprocessor. In WGSL no space is needed but between words, and in a - -b and a & &b: 1.8 kB of 44, gzipped.
      const text = engine.endsWith("webgpu") ? lines.replace(/(?<![-+&])\s*([^\w\s])\s*(?![-+&])/g, "$1").trim() : lines;
      return `export const ${file.replace(extension, "")} = ${JSON.stringify(text)};\n`;
    });
    const generated = join(folder, "sources.generated.ts");
    const sources = `// Generated from the kernels of this folder by scripts/build.mjs.\n${texts.join("")}`;
    // An unchanged file keeps its time, for --if-needed.
    if (!existsSync(generated) || readFileSync(generated, "utf8") !== sources) writeFileSync(generated, sources);
  }

if (process.argv.includes("--if-needed")) {
  const [target, from] = onlyKernels
    ? [GENERATED("matrices"), [KERNELS]]
    : ["dist/cli/main.js", ["src", "tsconfig.json", "tsconfig.cli.json"]];
  if (newest(from) < newest([target])) process.exit();
}

// The modules are compiled for shared memory, where loads keep their order around atomics. Such code is correct for any memory: only the
// byte after the import of the memory declares it shared.
const IMPORT = Buffer.from([3, ...Buffer.from("env"), 6, ...Buffer.from("memory"), 2]);

// The builds with fused multiply-add and with Dekker's products share most of their bytes. In alternating slices the shared bytes lie within
// the 32 KiB window of gzip, and the second build costs a quarter of the first. Every byte is one character: that compresses as well as
// the bytes themselves, whereas base64, in which repetitions are not aligned, is more than half as large again. The byte 0 is the first
// character after the double quote, so only the backslash needs escaping. src/engines/wasm/packedModule.ts unpacks it.
const SLICES = { vectors: 8, matrices: 12 }; // the best of 4 to 48: 8.0 and 40.2 kB gzipped (matrices in 8: 40.6)
const ZERO = '"'.charCodeAt(0) + 1;

for (const entry of ["vectors", "matrices"]) {
  const builds = [await compile(entry, "simd,relaxed-simd,threads"), await compile(entry, "simd,threads")];
  const shared = builds.map((bytes) => bytes.indexOf(IMPORT) + IMPORT.length);
  for (const [i, bytes] of builds.entries()) {
    if (bytes[shared[i]] !== 3) throw new Error("The kernels do not import a shared memory");
    bytes[shared[i]] = 1;
  }
  const count = SLICES[entry];
  const part = (bytes, i) => bytes.subarray(Math.floor((bytes.length * i) / count), Math.floor((bytes.length * (i + 1)) / count));
  const slices = Array.from({ length: count }, (_, i) => builds.map((bytes) => part(bytes, i))).flat();
  const lengths = builds.map((bytes) => bytes.length);
  writeFileSync(
    GENERATED(entry),
    `// Generated from assembly/${entry}.ts by scripts/build.mjs.
import type { PackedModule } from "./packedModule.ts";

export const ${entry}: PackedModule = {
  lengths: [${lengths.join(", ")}],
  shared: [${shared.join(", ")}],
  slices: ${count},
  zero: ${ZERO},
  bytes:
    "${literal(Buffer.concat(slices))}",
};
`,
  );
}

if (!onlyKernels) {
  rmSync("dist", { recursive: true, force: true });
  // The core is compiled without Node's types, so that it uses nothing that browsers lack; the command is compiled with them.
  for (const project of ["tsconfig.json", "tsconfig.cli.json"])
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { stdio: "inherit" });
  copyFileSync("src/engines/importByName.js", "dist/engines/importByName.js"); // it explains why it is not TypeScript
  chmodSync("dist/cli/main.js", 0o755);
  await import("./bundle.mjs");
}

function literal(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte + ZERO);
  return text.replaceAll("\\", "\\\\");
}

async function compile(entry, features) {
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
  const { error, stderr } = await main([`${KERNELS}/${entry}.ts`, ...flags, "--outFile", "kernels.wasm"], {
    writeFile: (_name, contents) => {
      binary = contents;
    },
  });
  if (error) throw new Error(`AssemblyScript: ${error.message}\n${stderr}`);
  return Buffer.from(binary);
}

/** The time of the latest change below these paths, in milliseconds; -Infinity if there are no files. */
function newest(paths) {
  let latest = Number.NEGATIVE_INFINITY;
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) latest = Math.max(latest, newest(readdirSync(path).map((name) => join(path, name))));
    else if (stat) latest = Math.max(latest, stat.mtimeMs);
  }
  return latest;
}
