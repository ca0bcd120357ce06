// Right-hand sides in groups of eight, which the kernels take as lanes: the jobs of extrsm (dense.ts) and of sparse plans (sparse.ts).

import { GROUP_COLUMNS } from "../assembly/layout.ts";

// If at most this many columns are left over from full groups, they are solved one at a time, which is faster.
const MAX_LEFT_OVER = 3;

/** How many of these columns are solved in groups, of which the last may be filled up. */
export function groupedColumns(cols: number): number {
  const leftOver = cols % GROUP_COLUMNS;
  return leftOver > MAX_LEFT_OVER ? cols : cols - leftOver;
}

/** The number of groups of these columns. */
export const groupsOf = (cols: number): number => Math.ceil(cols / GROUP_COLUMNS);
