// The shared conformance vectors through the engine webgpu of a browser: headless Chromium with SwiftShader. The page is built from the sources;
// it returns what came out of each case, and the bits are compared here. The full suite runs all cases a second time, with everything on the
// device.
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onlyForBrowsers } from "../../../site/build/onlyForBrowsers.ts";
import { FULL } from "../../effort.ts";
import { CHROMIUM, launch, type Served, serve, Visit } from "../../site/visit.ts";
import { VECTOR_FILES, type VectorFile } from "../../vectors/cases.ts";
import { readShared, textOf } from "../../vectors/read.ts";
import type { VectorsPage } from "./page.ts";

type Page = { vectors: VectorsPage };
const FILES = Object.keys(VECTOR_FILES) as VectorFile[];
// By default many of these small problems stay on the calling thread. With everything on the device they take twice as long.
const WAYS = (["by default", "everything on the device"] as const).slice(0, FULL ? 2 : 1);
const AT_ONCE = 20; // cases in a call to the page, which must not take longer than the protocol waits

async function buildPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "halfulp-vectors-"));
  await build({
    configFile: false,
    root: fileURLToPath(new URL(".", import.meta.url)),
    logLevel: "error",
    plugins: [onlyForBrowsers()],
    worker: { format: "es", plugins: () => [onlyForBrowsers()] },
    build: {
      target: "es2022",
      outDir: folder,
      rollupOptions: { input: fileURLToPath(new URL("page.ts", import.meta.url)), output: { entryFileNames: "page.js" } },
    },
  });
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="page.js"></script>',
  );
  for (const file of FILES) writeFileSync(join(folder, file), textOf(file));
  return folder;
}

describe.skipIf(CHROMIUM !== "")(`the shared vectors in Chromium${CHROMIUM}`, () => {
  let folder: string;
  let served: Served;
  let opened: Awaited<ReturnType<typeof launch>>;
  let visit: Visit;
  beforeAll(async () => {
    folder = await buildPage();
    served = await serve(folder);
    opened = await launch("chrome with WebGPU");
    visit = await Visit.open(opened.browser, served.url);
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  describe.each(WAYS)("%s", (how) => {
    beforeAll(async () => {
      const device = await visit.page.evaluate((choice) => (globalThis as unknown as Page).vectors.open(choice), how);
      expect(device).toMatch(/^webgpu: .*swiftshader/i);
    });

    test.each(FILES)("%s: no wrong bit", async (file) => {
      const cases = readShared(file);
      expect(await visit.page.evaluate((name) => (globalThis as unknown as Page).vectors.load(name), file)).toBe(cases.length);
      for (let at = 0; at < cases.length; at += AT_ONCE) {
        const outcomes = await visit.page.evaluate((from, to) => (globalThis as unknown as Page).vectors.run(from, to), at, at + AT_ONCE);
        const wanted = cases.slice(at, at + AT_ONCE);
        expect(wanted.map(({ name }, i) => ({ name, bits: outcomes[i] }))).toEqual(wanted.map(({ name, want }) => ({ name, bits: want })));
      }
      expect(visit.complaints).toEqual([]);
    });
  });
});
