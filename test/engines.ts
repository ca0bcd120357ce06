// The table of engines: every conformance test runs over all of it, and a new engine is one more row.
import { describe } from "vitest";
import { type Kernels, kernels, level1On } from "../src/study.ts";

export interface Row {
  readonly name: string;
  readonly kernels: Kernels | undefined;
  readonly missing: string;
}

const reference = kernels("reference") as Kernels;

export const ENGINES: readonly Row[] = [
  { name: "reference", kernels: reference, missing: "" },
  { name: "wasm-fma", kernels: kernels("wasm-fma"), missing: "no relaxed SIMD with a fused multiply-add on this machine" },
  { name: "wasm-dekker", kernels: kernels("wasm-dekker"), missing: "no WebAssembly SIMD on this machine" },
];

export type Routines = ReturnType<typeof level1On>;

/** A block of tests for each engine; where one cannot run here, skipped with the reason in its title. */
export function describeEngines(title: string, body: (routines: Routines, engine: Kernels) => void): void {
  for (const { name, kernels: engine, missing } of ENGINES) {
    const usable = engine ?? reference; // a block that is skipped is still collected
    describe.skipIf(!engine)(`${title}, ${name}${engine ? "" : ` (${missing})`}`, () => body(level1On(usable), usable));
  }
}

/** The engines that run here. */
export const RUNNING: readonly { name: string; engine: Kernels; routines: Routines }[] = ENGINES.flatMap(({ name, kernels: engine }) =>
  engine ? [{ name, engine, routines: level1On(engine) }] : [],
);
