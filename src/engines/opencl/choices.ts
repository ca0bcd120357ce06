// The choices of open("opencl", { choices }): how work is divided on a device. Checks them against the values that kernels can be compiled
// with. Called by the engine.
import { checkOptions, describe } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { EXACT_STAGES, type ExactStage } from "../kernels.ts";
import type { GemvShape } from "./dense/gemv.ts";
import type { Blocking } from "./dense/luBlocked.ts";
import type { TrsvTuning } from "./dense/trsv.ts";
import type { Sharing } from "./hybrid/hybrid.ts";
import type { Exact, Filter } from "./reductions/reduce.ts";
import type { ApproximateBlocking } from "./solve/lu.ts";
import type { Tuning } from "./sparse/tuning.ts";

/**
 * How work is divided, never the result. Defaults depend on the device and the problem; docs/opencl.md has them and the measurements
 * behind them.
 */
export interface Choices {
  /** The filter of sums and dot products. */
  readonly filter?: Partial<Filter> | undefined;
  /** The stage for sums that the filter leaves open: the superaccumulator, or an expansion of 2 to 8 components, with or without early exit. */
  readonly stage?: ExactStage | undefined;
  /** The launch of that stage. */
  readonly exact?: Partial<Exact> | undefined;
  readonly gemv?: Partial<GemvShape> | undefined;
  readonly trsv?: Partial<Pick<TrsvTuning, "slots" | "depth">> | undefined;
  readonly lu?: Partial<Pick<Blocking, "width" | "groups" | "shortest" | "resident">> | undefined;
  readonly sparse?: Partial<Pick<Tuning, "group" | "groups" | "window" | "together">> | undefined;
  /** The approximate factors of solve(): the last bits of x may depend on this choice. */
  readonly plain?: Partial<Pick<ApproximateBlocking, "width" | "panel" | "group" | "resident" | "deep" | "tensorCores">> | undefined;
  /** How CPU and GPU share the work of solve(): the last bits of x may depend on this choice. */
  readonly solve?: Partial<Sharing> | undefined;
}

type Values = readonly (number | boolean | string)[];
const ANY_FUNCTION = ["a function"];

// The values that kernels can be compiled with.
const FLAGS = [true, false];
const LANES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const GROUPS = Array.from({ length: 64 }, (_, i) => i + 1);
const ALLOWED: { readonly [K in keyof Choices]-?: Values | Readonly<Record<string, Values>> } = {
  filter: { levels: [2, 3, 4], unroll: [1, 2, 4], group: LANES, groups: GROUPS },
  stage: EXACT_STAGES,
  exact: { group: LANES, groups: GROUPS, stride: [1, 2, 4, 8, 16] },
  gemv: { rowLanes: LANES, colLanes: LANES, rowsEach: [1, 2, 4], deep: [1, 2, 4, 8], chunks: [...GROUPS, 128], wide: FLAGS },
  trsv: { slots: [1, 2, 4, 8], depth: [1, 2, 4] },
  lu: { width: [32, 64], groups: LANES.map((n) => 2 * n), shortest: LANES.map((n) => 8 * n), resident: FLAGS },
  plain: { width: [128, 256], panel: [32, 64, 128], group: [64, 128, 256, 512, 1024], resident: FLAGS, deep: [8, 16], tensorCores: FLAGS },
  sparse: { group: LANES, groups: LANES.map((n) => 8 * n), window: [2, 3, 4, 8, 13, 16], together: FLAGS },
  solve: { panel: ["cpu", "gpu"], lookAhead: [0, 1, 2], forward: ["cpu", "gpu"], backward: ["cpu", "gpu"], watch: ANY_FUNCTION },
};
const MAX_LANES = 1024;

/** Throw if the kernels cannot be compiled with these choices. */
export function checkChoices(choices: Choices): void {
  checkOptions("open", choices, Object.keys(ALLOWED));
  for (const [name, value] of Object.entries(choices) as [keyof Choices, unknown][]) {
    const allowed = ALLOWED[name];
    if (value === undefined) continue;
    if (Array.isArray(allowed)) checkValue(name, value, allowed);
    else checkValues(name, value as object, allowed as Readonly<Record<string, Values>>);
  }
  const { rowLanes = 1, colLanes = 1 } = choices.gemv ?? {};
  if (rowLanes * colLanes > MAX_LANES)
    throw new ShapeError(`open: choices.gemv has ${rowLanes} by ${colLanes} lanes, expected at most ${MAX_LANES} in all`);
}

function checkValues(name: string, values: object, allowed: Readonly<Record<string, Values>>): void {
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new ShapeError(
      `open: choices.${name} is ${describe(values)}, expected an object with some of ${Object.keys(allowed).join(", ")}`,
    );
  for (const [key, value] of Object.entries(values)) {
    const list = allowed[key];
    if (!list) throw new ShapeError(`open: there is no choices.${name}.${key}, expected some of ${Object.keys(allowed).join(", ")}`);
    if (value !== undefined) checkValue(`${name}.${key}`, value, list);
  }
}

function checkValue(name: string, value: unknown, allowed: Values): void {
  if (allowed === ANY_FUNCTION && typeof value === "function") return;
  if (!allowed.includes(value as number))
    throw new ShapeError(`open: choices.${name} is ${describe(value)}, expected one of ${allowed.join(", ")}`);
}
