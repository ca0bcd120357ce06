// The sources that sparse kernels are made of. Called by the files that launch them.

import type { Device } from "../../device.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import { binary32, binary64 } from "./sources.generated.ts";

const formatOf = (width: number): string => (width === 8 ? binary64 : binary32);

/** For kernels that round sums and know whether the result is proved. `width`: bytes of a number. */
export const filterSources = (width: number): readonly string[] => [words, window, gather, round, formatOf(width)];

/** The same with the exact stage. */
export const exactSources = (width: number): readonly string[] => [...filterSources(width), settle];

/** Lanes of a group: on a CPU every barrier costs time for each of them. */
export const groupOf = ({ type }: Device): number => (type === "cpu" ? 16 : 64);

// A lane adds at most this many products to a window (exact/window.wgsl), and should have about this many to add.
const MAX_PRODUCTS = 2 ** 22;
const PRODUCTS_PER_LANE = 4;

/** How many lanes of a group share a row, a power of two, for this many entries in all. No row has more entries than there are columns. */
export function lanesOfRow(entries: number, rows: number, cols: number, group: number): number {
  const wanted = Math.max(1, entries / Math.max(1, rows) / PRODUCTS_PER_LANE);
  return Math.min(group, Math.max(2 ** Math.floor(Math.log2(wanted)), 2 ** Math.ceil(Math.log2(Math.max(1, cols / MAX_PRODUCTS)))));
}
