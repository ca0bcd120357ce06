// The sources that sparse kernels are made of. Called by the files that launch them.
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import { binary32, binary64 } from "./sources.generated.ts";

const formatOf = (width: number): string => (width === 8 ? binary64 : binary32);

/** For kernels that round sums and know whether the result is proved. `width`: bytes of a number. */
export const filterSources = (width: number): readonly string[] => [words, window, gather, round, formatOf(width)];

/** The same with the exact stage. */
export const exactSources = (width: number): readonly string[] => [...filterSources(width), settle];
