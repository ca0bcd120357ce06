// The entry point "halfulp/webgpu": an engine on a GPU that the browser or Dawn offers. open("webgpu") of the main entry point opens the same
// engine without choices.

import { type Engine, engineOf } from "./api/engine.ts";
import { checkOptions, checkWord, describe } from "./arrays/checks.ts";
import { ShapeError } from "./arrays/errors.ts";
import { webgpuBackend } from "./engines/webgpu/index.ts";

/** Options of openWebgpu(). */
export interface WebgpuOptions {
  /** A part of the adapter's name, or its place in the list of adapters that the browser or Dawn offers; default: the first. */
  adapter?: string | number | undefined;
  /** Which adapter the list begins with; default: "high-performance". */
  powerPreference?: "low-power" | "high-performance" | undefined;
}

/**
 * An engine on a GPU by WebGPU, with asynchronous routines. Close it when done.
 * @example
 * const engine = await openWebgpu({ powerPreference: "high-performance" });
 * await engine.exsum(Float64Array.of(1e16, 1, -1e16)); // 1
 * await engine.close();
 */
export async function openWebgpu(options: WebgpuOptions = {}): Promise<Engine> {
  checkOptions("openWebgpu", options, ["adapter", "powerPreference"]);
  const { adapter, powerPreference } = options;
  const isPlace = typeof adapter === "number" && Number.isSafeInteger(adapter) && adapter >= 0;
  if (adapter !== undefined && !isPlace && (typeof adapter !== "string" || adapter === ""))
    throw new ShapeError(`openWebgpu: adapter is ${describe(adapter)}, expected a part of its name or its place in the list of adapters`);
  if (powerPreference !== undefined) checkWord("openWebgpu", "powerPreference", powerPreference, ["low-power", "high-performance"]);
  return engineOf(await webgpuBackend({ adapter, powerPreference }));
}
