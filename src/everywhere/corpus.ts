// The corpus: inputs made from bits alone, through every routine, and one SHA-256 for each routine and one of all. Every machine and every
// engine must return the same. `halfulp doctor`, `npm run everywhere` and the page in the browser run it:
//
//   const engine = await open("threads");
//   const { short, full } = await hashes(engine, { corpus: "full", onRoutine: (name, done, of) => … });
//   short.all; // the hash of all, 64 hexadecimal digits, to compare with EXPECTED.short.all of expected.ts
//   short.routines["exdot, binary32"]; // and of one routine; routineNames lists them in order
//
// It needs nothing of Node or browsers but typed arrays: shells of JavaScript engines run it too. The synchronous functions serve as an
// engine: hashes({ ...vectorRoutines, ...matrixRoutines }). `rounding: "backward"`, `exact: false` and times are no part of it.
import type { Engine } from "../api/engine.ts";
import type * as matrices from "../api/matrixRoutines.ts";
import type * as vectors from "../api/vectorRoutines.ts";
import type { Statistics } from "../routines/statistics.ts";
import { dense } from "./dense.ts";
import { Digest } from "./digest.ts";
import { files } from "./files.ts";
import { level1 } from "./level1.ts";
import { Sha256 } from "./sha256.ts";
import { solvers } from "./solvers.ts";
import { sparse } from "./sparse.ts";
import { statistics } from "./statistics.ts";

/**
 * The routines that the corpus calls: an engine, or the synchronous functions. `accumulate` is that of engines; without it the class
 * Accumulator adds up. The statistics are those of the kernels under test; without them the synchronous functions run.
 */
export type CorpusRoutines = Pick<Engine, keyof typeof vectors | keyof typeof matrices> & Partial<Pick<Engine, "accumulate"> & Statistics>;

/**
 * "short": small inputs, within reach of emulated machines and interpreters. "full": also sizes at which kernels work by blocks and with
 * many workers. "large": also the sizes at which GPUs turn to their matrix engines.
 */
export const CORPUS_SIZES = ["short", "full", "large"] as const;
export type CorpusSize = (typeof CORPUS_SIZES)[number];

type Part = (routines: CorpusRoutines, out: Digest) => Promise<void>;

/** What a routine is called with, by size; each part adds everything that comes back to the digest. */
export type CorpusRow = { readonly short: Part } & Partial<Readonly<Record<CorpusSize, Part>>>;

const ROWS: Readonly<Record<string, CorpusRow>> = { ...level1, ...statistics, ...dense, ...sparse, ...solvers, ...files };

/** The names of the routines, in the order in which they run. */
export const routineNames: readonly string[] = Object.keys(ROWS);

export interface HashOptions {
  /** Default: "short". */
  corpus?: CorpusSize | undefined;
  /** Only the routines with these names; default: all. */
  only?: readonly string[] | undefined;
  /** Called before each routine, with the number of those that are done. May return a promise, to let a page draw. */
  onRoutine?: ((name: string, done: number, of: number) => void | Promise<void>) | undefined;
}

export interface CorpusHashes {
  /** The hash of all hashes below; "" unless every routine was run. */
  readonly all: string;
  /** The hash of what each routine returned. */
  readonly routines: Readonly<Record<string, string>>;
}

/** The hashes for this size and every smaller one: a corpus begins with the smaller ones. */
export type HashesBySize = { readonly short: CorpusHashes } & Partial<Readonly<Record<CorpusSize, CorpusHashes>>>;

/** Runs the corpus on these routines. */
export async function hashes(
  routines: CorpusRoutines,
  { corpus = "short", only = routineNames, onRoutine }: HashOptions = {},
): Promise<HashesBySize> {
  const sizes = CORPUS_SIZES.slice(0, CORPUS_SIZES.indexOf(corpus) + 1);
  const found = new Map(sizes.map((size) => [size, {} as Record<string, string>]));
  const names = routineNames.filter((name) => only.includes(name));
  for (const [done, name] of names.entries()) {
    await onRoutine?.(name, done, names.length);
    const out = new Digest();
    for (const [size, record] of found) {
      await ROWS[name]?.[size]?.(routines, out);
      record[name] = out.hex();
    }
  }
  return Object.fromEntries([...found].map(([size, record]) => [size, summed(record)])) as unknown as HashesBySize;
}

function summed(routines: Readonly<Record<string, string>>): CorpusHashes {
  if (!routineNames.every((name) => name in routines)) return { all: "", routines };
  const lines = routineNames.map((name) => `${name} ${routines[name]}\n`).join("");
  return { all: new Sha256().update(Uint8Array.from(lines, (letter) => letter.charCodeAt(0))).hex(), routines };
}
