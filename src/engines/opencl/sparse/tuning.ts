import type { Device } from "../../device.ts";
import type { Schedule } from "../../kernels.ts";
import { limitOn, type SetupTuning, windowFor } from "./setup.ts";

/** How the kernels of sparse solves are started. */
export interface Tuning extends SetupTuning {
  /** Work-items in a group, each with a row at a time. */
  readonly group: number;
  /** Work-groups, which take rows until there are no more. */
  readonly groups: number;
  /** StridedMatrix of a row that are waited for at once. */
  readonly window: number;
  /** Looks at a word that does not change, after which waiting is given up. */
  readonly limit: number;
  /** gsf: rows that follow each other and are one work-item's; 0 for single rows that wait in memory that all share. */
  readonly run: number;
  /** gsf: of so many looks for unknowns one goes beyond the memory of the group. */
  readonly skip: number;
  /** Whether a group has one row at a time, in exact mode. */
  readonly long: boolean;
  /** One work-group only. */
  readonly one?: boolean;
  /** levr: rows in a level, on the average, up to which one work-group does them all. */
  readonly narrow: number;
}

/** What is known of a triangle: its entries beside the diagonal, and how many its longest line has. */
export interface Shape {
  readonly n: number;
  readonly entries: number;
  readonly longest: number;
  readonly exact: boolean;
}

export function setupTuning(device: Device, given: Partial<Tuning>): SetupTuning {
  return { finder: "rows", setupGroups: device.computeUnits * (device.type === "gpu" ? 16 : 2), setupGroup: 64, ...given };
}

const RUN = 32;

// Work-items in a group and groups for a multiprocessor, on GPUs. Rows by levels: few groups, for all that wait use memory that
// all share. On an H200, 27-point 128^3, ms for both triangles: 256 x 2 1.64, 256 x 4 1.66, 128 x 2 1.78, 128 x 4 1.89.
const GROUPS: Record<string, readonly [number, number]> = { slfr: [256, 2], gsf: [32, 32], levr: [64, 4], levc: [64, 4], slfc: [64, 16] };
const LONG_GROUPS = [32, 32] as const;

/** For a device and a problem, with some of it given. */
export function tuningFor(device: Device, schedule: Schedule, { n, entries, longest, exact }: Shape, given: Partial<Tuning>): Tuning {
  const many = device.type === "gpu";
  // Exact sums can be made by many, and rows of a warp's width or more give all of it something to do.
  const long = exact && (schedule === "slfr" || schedule === "gsf") && (given.long ?? entries >= 32 * Math.max(1, n));
  const [size, perUnit] = !many ? [16, 2] : long ? LONG_GROUPS : (GROUPS[schedule] ?? [64, 16]);
  return {
    ...setupTuning(device, given),
    groups: device.computeUnits * perUnit,
    // Exact sums take what is there, and need no more: 27-point 128^3 2.92 ms with 8, 3.12 with 13; plain 2.31 and 1.64.
    window: long ? 3 : windowFor(exact ? Math.min(8, longest) : longest),
    run: longest > 8 ? 0 : RUN,
    skip: 2,
    narrow: many ? 384 : 0,
    limit: limitOn(device),
    ...given,
    long,
    group: Math.min(given.group ?? size, device.maxGroupSize),
  };
}
