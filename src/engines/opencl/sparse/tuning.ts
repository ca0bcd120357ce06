// How the kernels of sparse triangular solves are launched: defaults for a device and a problem. Called by plan.ts and study.ts.
import type { Device } from "../../device.ts";
import type { Schedule } from "../../kernels.ts";

/** What finds levels: Kahn's algorithm on columns; or rows in their order, each waiting for those it needs. */
export type LevelFinder = "kahn" | "rows";

/** Launch sizes of the set-up kernels that wait for other work-items. */
export interface SetupTuning {
  readonly finder: LevelFinder;
  readonly setupGroups: number;
  /** Work-items in a work-group. They take tickets together, and all wait for the last of them: a small number is best. */
  readonly setupGroup: number;
}

/** How the kernels of sparse solves are launched. */
export interface Tuning extends SetupTuning {
  /** Work-items in a work-group. Each has one row at a time, unless `long` is set. */
  readonly group: number;
  /** Work-groups, which take rows until there are no more. */
  readonly groups: number;
  /** Entries of a row that are waited for together. */
  readonly window: number;
  /** Exact mode: a work-item waits for all unknowns of a window before it adds their products. */
  readonly together: boolean;
  /** How often a wait polls before it gives up. */
  readonly limit: number;
  /** gsf: consecutive rows of a work-item; 0 for single rows that wait in global memory. */
  readonly blockRows: number;
  /** gsf: one look in `skip` for unknowns goes to global memory. */
  readonly skip: number;
  /** Exact mode, long rows: a whole work-group shares each row. */
  readonly long: boolean;
  /** One work-group only. */
  readonly one?: boolean;
  /** levr: the average number of rows in a level up to which one work-group does them all. */
  readonly narrow: number;
}

/** A triangle: its entries without the diagonal, and the entries of its longest row or column. */
export interface Shape {
  readonly n: number;
  readonly entries: number;
  readonly longest: number;
  readonly exact: boolean;
}

// The windows in use; each is compiled separately. For rows of 2 entries, 3 is best too.
const WINDOWS = [3, 4, 8, 13] as const;

/** How many entries of a row are waited for together, if the longest row has `longest`. */
export const windowFor = (longest: number): number => WINDOWS.find((window) => window >= longest) ?? 13;

/** Looks after which a wait is abandoned: about a second, at 0.3 microseconds each on a GPU and 4 ns on a CPU. */
export const waitLimit = (device: Device): number => (device.type === "cpu" ? 2 ** 28 : 2 ** 22);

/** The tuning of the set-up phase, with some of it given. */
export function setupTuning(device: Device, given: Partial<Tuning>): SetupTuning {
  return { finder: "rows", setupGroups: device.computeUnits * (device.type === "gpu" ? 16 : 2), setupGroup: 64, ...given };
}

const BLOCK_ROWS = 32;
const MAX_BLOCK_ENTRIES = 8; // of a row, in blocks of rows

// Work-items in a work-group and work-groups per multiprocessor, on GPUs. Rows by levels: few groups, because all that wait use global
// memory. On an H200, 27-point 128^3, ms for both triangles: 256 x 2 1.64, 256 x 4 1.66, 128 x 2 1.78, 128 x 4 1.89.
const GROUPS: Record<string, readonly [number, number]> = { slfr: [256, 2], gsf: [32, 32], levr: [64, 4], levc: [64, 4], slfc: [64, 16] };
const LONG_GROUPS = [32, 32] as const;

/** The tuning for a device and a problem, with some of it given. */
export function tuningFor(device: Device, schedule: Schedule, { n, entries, longest, exact }: Shape, given: Partial<Tuning>): Tuning {
  const isGpu = device.type === "gpu";
  // Several work-items can share an exact sum, and rows of a warp's width or more keep all of them busy.
  const long = exact && (schedule === "slfr" || schedule === "gsf") && (given.long ?? entries >= 32 * Math.max(1, n));
  const [size, perUnit] = !isGpu ? [16, 2] : long ? LONG_GROUPS : (GROUPS[schedule] ?? [64, 16]);
  return {
    ...setupTuning(device, given),
    groups: device.computeUnits * perUnit,
    // Exact sums take unknowns in any order, so a larger window does not help: 27-point 128^3 2.92 ms with 8, 3.12 with 13; plain
    // 2.31 and 1.64.
    window: long ? 3 : windowFor(exact ? Math.min(8, longest) : longest),
    blockRows: longest > MAX_BLOCK_ENTRIES ? 0 : BLOCK_ROWS,
    skip: 2,
    // On an H200, ILU(0) of the 7-point grid 128^3: 0.52 and 0.59 ms for L and U, 0.71 and 0.74 without. 27 points: slower.
    together: exact && !long && longest <= WINDOWS[0],
    narrow: isGpu ? 384 : 0,
    limit: waitLimit(device),
    ...given,
    long,
    group: Math.min(given.group ?? size, device.maxGroupSize),
  };
}
