// Every way to call the library on this machine: the synchronous functions, and each configuration in the table of engines, opened as
// users open it. doctor and the report's table of hashes (report/measure/bits.ts) run over this list.
import type { Engine } from "../api/engine.ts";
import * as matrices from "../api/matrixRoutines.ts";
import { open } from "../api/open.ts";
import * as vectors from "../api/vectorRoutines.ts";
import { embedded } from "../engines/embedded.ts";
import { ENGINES, type EngineRow, type Kind } from "../engines/table.ts";

/** What all of them have: the routines, whose results may be promises. */
export type Callable = Pick<Engine, keyof typeof vectors | keyof typeof matrices>;

export interface Opening {
  readonly name: string;
  /** Whether the routines are the synchronous functions. */
  readonly synchronous: boolean;
  /** As in the table of engines. */
  readonly hasSchedules: boolean;
  open(): Promise<{ readonly routines: Callable; readonly device: string; close(): Promise<void> }>;
}

/** An engine that this machine cannot run, and why. */
export interface MissingEngine {
  readonly kind: Kind;
  readonly reason: string;
}

/** The synchronous functions, on the kernels that they choose on this machine. */
export function synchronousFunctions(): Opening {
  const { name } = embedded();
  const routines = { ...vectors, ...matrices } as unknown as Callable;
  return { name, synchronous: true, hasSchedules: false, open: async () => ({ routines, device: name, close: async () => {} }) };
}

/** All that can be opened, and what is missing; `pools` are the numbers of threads to try. */
export async function everyOpening(pools: readonly number[]): Promise<{ openings: Opening[]; missing: MissingEngine[] }> {
  const openings = [synchronousFunctions()];
  const missing: MissingEngine[] = [];
  for (const row of ENGINES) {
    const { kind, hasSchedules } = row;
    const probe = await row.probe();
    if ("reason" in probe) missing.push({ kind, reason: probe.reason });
    else
      for (const { name, options } of await (row as EngineRow).configurations(pools))
        openings.push({
          name,
          synchronous: false,
          hasSchedules,
          async open() {
            const engine = await open(kind, options);
            return { routines: engine, device: engine.device, close: () => engine.close() };
          },
        });
  }
  return { openings, missing };
}
