// The page of browser.test.ts: runs the shared conformance vectors in a browser, and returns what came out. The test compares.

import { openDevice } from "../../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../../src/engines/webgpu/index.ts";
import { type Engine, open } from "../../../src/index.ts";
import { engineOf } from "../../../src/study.ts";
import type { AnyRoutines } from "../../engines.ts";
import { type SharedCase, sharedCases, type VectorFile } from "../../vectors/cases.ts";

/** What the test calls in the page. */
export interface VectorsPage {
  /** Opens the engine as a user does, or so that sizes leave nothing to the calling thread. Returns the name of the device. */
  open(how: "by default" | "everything on the device"): Promise<string>;
  /** Fetches a file. Returns the number of its cases. */
  load(file: VectorFile): Promise<number>;
  /** The outcomes of some cases of the file. */
  run(from: number, to: number): Promise<string[][]>;
}

const ON_THE_DEVICE = {
  minEntries: 0,
  minOrder: 0,
  minMagnitudes: 0,
  minIteration: 0,
  minTerms: 0,
  minFactors: 0,
  minBatchOrder: 0,
  minBatchCount: 0,
  minBatchEntries: 0,
};

let engine: Engine | undefined;
let cases: SharedCase[] = [];

const page: VectorsPage = {
  async open(how) {
    await engine?.close();
    engine = how === "by default" ? await open("webgpu") : engineOf(backendOn(await openDevice(await findAdapter()), ON_THE_DEVICE));
    return `${engine.kind}: ${engine.device}`;
  },
  async load(file) {
    cases = sharedCases(file, await (await fetch(file)).text());
    return cases.length;
  },
  async run(from, to) {
    const outcomes: string[][] = [];
    for (const shared of cases.slice(from, to))
      outcomes.push(await shared.outcome(engine as unknown as AnyRoutines).catch((error) => [String(error)]));
    return outcomes;
  },
};

(globalThis as unknown as { vectors: VectorsPage }).vectors = page;
