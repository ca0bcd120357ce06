// What a bundler makes of the package for a browser, minified and gzipped: programs that import little must stay small.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { install, root } from "./installed.ts";

let folder: string;
beforeAll(() => {
  ({ folder } = install());
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

// kB, and what is in it. Where a limit is not kept, see what has come in: a rolldown bundle tells the modules of each chunk.
const LIMITS = [
  ["vectors, the core", 'export { Accumulator, allocate, exaxpy, exdot, exnrm2, exscal, exsum, free } from "halfulp";', 40],
  ["everything that needs no GPU", 'export * from "halfulp";', 165],
] as const;

describe("gzipped", () => {
  test.each(LIMITS)("%s", async (what, source, limit) => {
    const kB = await sizeOf(source);
    expect(kB, `${what}: ${kB.toFixed(1)} kB`).toBeLessThan(limit);
  });

  test("the engine webgpu, when it is opened", async () => {
    const chunk = (await chunksOf('export * from "halfulp";')).find(({ fileName }) => fileName.startsWith("webgpu"));
    expect(kilobytes(chunk ? [chunk] : [])).toBeGreaterThan(10);
    expect(kilobytes(chunk ? [chunk] : [])).toBeLessThan(43);
  });

  test("are what the README says", async () => {
    const said = readFileSync(join(root, "README.md"), "utf8").match(/(\d+) kB gzipped for vectors, (\d+) kB for everything/) ?? [];
    const sizes = [await sizeOf(LIMITS[0][1]), await sizeOf(LIMITS[1][1])];
    for (const [i, size] of sizes.entries()) expect(Math.abs(Number(said[i + 1]) - size)).toBeLessThan(3);
  });
});

// The chunks that are loaded at once, without those that wait until they are asked for (OpenCL).
async function sizeOf(source: string): Promise<number> {
  const chunks = await chunksOf(source);
  const loaded = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded) for (const chunk of chunks) if (imports.includes(chunk.fileName)) loaded.add(chunk);
  return kilobytes([...loaded]);
}

async function chunksOf(source: string): Promise<OutputChunk[]> {
  const input = join(folder, "entry.js");
  writeFileSync(input, source);
  const bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output.filter((chunk) => chunk.type === "chunk");
}

const kilobytes = (chunks: readonly OutputChunk[]): number =>
  chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0) / 1000;
