import type { Device } from "../device.ts";
import { type LevelFinder, limitOn } from "./sparseSetup.ts";

/** How the kernels of sparse solves are started. */
export interface Tuning {
  /** Work-items in a group, each with a row at a time. */
  readonly group: number;
  /** Work-groups, which take rows until there are no more. */
  readonly groups: number;
  /** Work-groups of the set-up phase's kernels that wait. */
  readonly setupGroups: number;
  /** Entries of a row that are waited for at once. */
  readonly window: number;
  readonly finder: LevelFinder;
  /** Looks at a word that does not change, after which waiting is given up. */
  readonly limit: number;
  /** gsf: rows that follow each other and are one work-item's; 0 for single rows that wait in memory that all share. */
  readonly run: number;
  /** gsf: of so many looks for unknowns one goes beyond the memory of the group. */
  readonly skip: number;
  /** One work-group only. */
  readonly one?: boolean;
  /** levr: rows in a level, on the average, up to which one work-group does them all. */
  readonly narrow: number;
}

/** For a device, with some of it given. */
export function tuningFor(device: Device, given: Partial<Tuning>): Tuning {
  const many = device.type === "gpu";
  const group = Math.min(given.group ?? (many ? 64 : 16), device.mostInGroup);
  // Work-groups beyond what a multiprocessor holds at a time find nothing left to do.
  const groups = device.units * (many ? 16 : 2);
  return {
    groups,
    setupGroups: groups,
    window: 4,
    finder: "rows",
    run: 32,
    skip: 2,
    narrow: many ? 512 : 0,
    limit: limitOn(device),
    ...given,
    group,
  };
}
