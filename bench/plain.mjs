// plain.ts compiled and running over a memory of its own, with room for two vectors side by side.
import { main } from "assemblyscript/asc";
import { ROOT } from "./provenance.mjs";

const PAGE = 65536;
const ALIGNMENT = 64; // as allocate() has it

/** The plain SIMD loops, for vectors of up to so many elements. */
export async function plainLoops(longest) {
  const pages = Math.ceil((2 * longest * 8 + ALIGNMENT) / PAGE) + 1;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { instance } = await WebAssembly.instantiate(await compile(), { env: { memory } });
  const { sum, asum, dot } = instance.exports;
  return {
    /** A copy of x and, where there is one, of y in this memory. */
    place(x, y) {
      const px = PAGE;
      const py = px + Math.ceil((x.length * 8) / ALIGNMENT) * ALIGNMENT;
      return { x: put(x, px), y: y && put(y, py) };
    },
    sum: (x) => sum(x.byteOffset, x.length),
    asum: (x) => asum(x.byteOffset, x.length),
    dot: (x, y) => dot(x.byteOffset, y.byteOffset, x.length),
    nrm2: (x) => Math.sqrt(dot(x.byteOffset, x.byteOffset, x.length)),
  };

  function put(values, address) {
    const placed = new Float64Array(memory.buffer, address, values.length);
    placed.set(values);
    return placed;
  }
}

async function compile() {
  let binary;
  const flags = ["--baseDir", ROOT, "-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", "simd"];
  const { error, stderr } = await main(["bench/plain.ts", ...flags, "--outFile", "plain.wasm"], {
    writeFile: (_name, contents) => {
      binary = contents;
    },
  });
  if (error) throw new Error(`AssemblyScript: ${error.message}\n${stderr}`);
  return binary;
}
