// What the last rows or tiles of a matrix tell about the next ones, which are often alike: whether the filter is worth running, and
// how much higher than their first terms suggest the grids must be. It affects the time, never a result.

// If the filter decided no entry of two groups in a row, the next groups skip it. A group for which the filter would have decided an
// entry ends that; as this is not always known, every 64th group runs the filter anyway.
let failures: i32 = 0, skipped: i32 = 0;
export function skipFilter(): bool { return failures > 1 && (++skipped & 63) != 0; }
// Record the number of entries of a group that the filter decided, or would have decided.
export function recordDecided(count: i32): void { failures = count == 0 ? failures + 1 : 0; }

// How many binades the largest of the first sixteen terms was below the largest of all, in the last rows whose grid was too low: if
// large entries come later, as on a diagonal, only the first rows are summed twice.
export let extraBinades: i32 = 0;
@inline export function setExtraBinades(binades: i32): void { extraBinades = binades; }

// The binade of the largest terms of the last rows, for rows whose first terms are zero.
@inline export const NO_BINADE: i32 = -2000;
export let usualBinade: i32 = NO_BINADE;
@inline export function setUsualBinade(binade: i32): void { usualBinade = binade; }

// Start with a new matrix.
export function resetHistory(): void { extraBinades = failures = 0; usualBinade = NO_BINADE; }
