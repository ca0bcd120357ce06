// Imports point down: arrays, exact, engines, routines, api, with the command and the entry points on top. docs/architecture.md has the
// picture.
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/** What the files of a folder may import besides each other. Folders and files that are not listed are at the top: they import anything. */
const BELOW: Record<string, readonly string[]> = {
  arrays: [],
  exact: ["arrays"],
  files: ["arrays", "exact"],
  problems: ["arrays", "exact"],
  engines: ["arrays", "exact"],
  routines: ["arrays", "exact", "engines"],
  api: ["arrays", "exact", "engines", "routines"],
  ranks: ["arrays", "exact", "engines", "routines", "api", "files"],
};

/** Who may import what from the folder of an engine, other than the engine itself and the top. */
const SHARED: Record<string, readonly string[]> = {
  "engines/table.ts": [
    "engines/wasm/backend.ts",
    "engines/threads/backend.ts",
    "engines/threads/cores.ts",
    "engines/opencl/index.ts",
    "engines/webgpu/index.ts",
  ],
  "engines/embedded.ts": ["engines/reference/index.ts", "engines/wasm/load.ts"],
  "engines/embeddedVectors.ts": ["engines/reference/index.ts", "engines/wasm/index.ts", "engines/wasm/loadVectors.ts"],
  "engines/local.ts": ["engines/reference/index.ts", "engines/wasm/load.ts"],
  // Short vectors, and elements that a kernel flags.
  "engines/wasm": ["engines/reference/index.ts"],
  // The same kernels, jobs and memory on a pool of workers.
  "engines/threads": [
    "engines/wasm/jobs",
    "engines/wasm/assembly/layout.ts",
    "engines/wasm/arena.ts",
    "engines/wasm/space.ts",
    "engines/wasm/approximate.ts",
    "engines/wasm/load.ts",
    "engines/wasm/objects.ts",
  ],
  // The CPU part of the hybrid factorization.
  "engines/opencl": ["engines/threads/backend.ts", "engines/threads/cores.ts"],
  // open("auto") on this thread.
  "api/open.ts": ["engines/wasm/backend.ts"],
  // One rank a core: the engine on this thread.
  "ranks/ranks.ts": ["engines/wasm/backend.ts"],
  // Whether there are more ranks than cores.
  "ranks/mpi/communicator.ts": ["engines/threads/cores.ts"],
  // The kernels of exlu over ranks.
  "ranks/dense/lu.ts": ["engines/wasm/luRanks.ts"],
  // Levels by Kahn's algorithm on a pool, for study.
  "routines/sparse/levels.ts": ["engines/threads/index.ts"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string): Import[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(posix.join(SRC, file), "utf8"), true, true);
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => ({ from: file, to: posix.join(posix.dirname(file), fileName) }));
}

const isIn = (file: string, place: string): boolean => file === place || file.startsWith(`${place}/`);
const layerOf = (file: string): string => file.split("/")[0] as string;

/** The folder of the engine that a file belongs to; undefined for a file that engines share. */
const engineOf = (file: string): string | undefined => /^engines\/[^/]+(?=\/)/.exec(file)?.[0];

function pointsUp({ from, to }: Import): boolean {
  const below = BELOW[layerOf(from)];
  return below !== undefined && layerOf(to) !== layerOf(from) && !below.includes(layerOf(to));
}

function entersEngine({ from, to }: Import): boolean {
  const engine = engineOf(to);
  if (engine === undefined || engineOf(from) === engine || BELOW[layerOf(from)] === undefined) return false;
  return !Object.entries(SHARED).some(([who, what]) => isIn(from, who) && what.some((place) => isIn(to, place)));
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".generated.ts"));
const imports = files.flatMap(importsOf);
const readable = (list: readonly Import[]): string[] => list.map(({ from, to }) => `src/${from} imports src/${to}`).sort();

test("imports are found: static, dynamic and of types", () => {
  const found = readable(imports);
  expect(found).toContain("src/api/open.ts imports src/engines/table.ts");
  expect(found).toContain("src/engines/table.ts imports src/engines/opencl/index.ts");
  expect(found).toContain("src/exact/store.ts imports src/arrays/types.ts");
});

test("no file imports from a layer above its own", () => {
  expect(readable(imports.filter(pointsUp))).toEqual([]);
});

test("the folder of an engine is imported only where the table SHARED says so", () => {
  expect(readable(imports.filter(entersEngine))).toEqual([]);
});
