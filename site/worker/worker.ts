// The worker of the page: parses, computes, measures. page/client.ts calls it; each view has one of its own. What a call needs is loaded
// by the first such call: sums need 40 kB of the library, systems 150 kB.
import type { corpusOn, publishedHashes } from "./sameBits.ts";

type Corpus = Parameters<typeof corpusOn>;

const CALLS = {
  compute: async (task: import("../try/operations.ts").Task) => (await import("./compute.ts")).compute(task),
  engines: async () => (await import("../../src/index.ts")).engines(),
  example: async (name: string) => (await import("./examples.ts")).example(name),
  corpusOn: async (...[task, report]: Corpus) => (await import("./sameBits.ts")).corpusOn(task, report),
  publishedHashes: async (corpus: Parameters<typeof publishedHashes>[0]) => (await import("./sameBits.ts")).publishedHashes(corpus),
  npy: async (result: { data: Float64Array; shape: readonly number[] }) => (await import("./operands.ts")).npyOf(result),
  race: async (task: import("./race.ts").RaceTask, report: (point: import("../race/routines.ts").RacePoint) => void) =>
    (await import("./race.ts")).race(task, report),
  run: async (code: string, report: (line: string) => void) => (await import("./run.ts")).run(code, report),
};

export type Calls = typeof CALLS;
export type Reply = { readonly id: number } & ({ readonly report: unknown } | { readonly result: unknown } | { readonly error: string });

const port = self as unknown as {
  postMessage(reply: Reply): void;
  onmessage: (event: MessageEvent<{ id: number; name: keyof Calls; argument: never }>) => void;
};

port.onmessage = async ({ data: { id, name, argument } }) => {
  try {
    const call = CALLS[name] as (argument: never, report: (part: unknown) => void) => Promise<unknown>;
    port.postMessage({ id, result: await call(argument, (report) => port.postMessage({ id, report })) });
  } catch (error) {
    port.postMessage({ id, error: error instanceof Error && error.message !== "" ? error.message : String(error) });
  }
};
