// The part "Same bits": the corpus of `halfulp doctor` on an engine of this browser, and the published hashes.
import { type CorpusSize, hashes, routineNames } from "../../src/everywhere/corpus.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import { withEngine } from "./engineOf.ts";

export interface Table {
  /** The hash of all routines. */
  readonly all: string;
  readonly routines: Readonly<Record<string, string>>;
}

/** The routines in their order, and the hashes that every machine must return. */
export async function publishedHashes(corpus: CorpusSize): Promise<{ names: readonly string[]; table: Table }> {
  return { names: routineNames, table: EXPECTED[corpus] };
}

/** The hashes of an engine. Reports each routine before it runs. */
export async function corpusOn(
  { engine: kind, corpus }: { engine: string; corpus: CorpusSize },
  report: (progress: { name: string; done: number; of: number }) => void,
): Promise<{ table: Table; device: string; milliseconds: number }> {
  const begin = performance.now();
  return withEngine(kind, async (engine) => {
    const found = await hashes(engine, { corpus, onRoutine: (name, done, of) => report({ name, done, of }) });
    return { table: found[corpus] as Table, device: engine.device, milliseconds: performance.now() - begin };
  });
}
