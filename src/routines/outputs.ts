// Outputs of asynchronous calls. Until the promise resolves the caller may transfer the buffer of an output, or make it smaller. So an
// engine writes a copy, and the output is looked at before it is written, in one step.

import { ShapeError } from "../arrays/errors.ts";
import { compactLike, contiguousLines, type StridedMatrix } from "../arrays/matrix.ts";
import type { Real } from "../arrays/types.ts";
import { newVector, part } from "../arrays/vectors.ts";
import { remoteMemory } from "../engines/remote.ts";
import type { Routine } from "../engines/steps.ts";

/** What a call writes: `entries` are for the engine, and write() brings them to the caller when it is through. */
export interface Output {
  readonly entries: StridedMatrix;
  write(): void;
}

/** The output of a routine: as it is on a synchronous engine, else a copy. `name` is the argument; without `reads` nobody reads what is in it. */
export function* outputOf(routine: string, name: string, to: StridedMatrix, reads: boolean): Routine<Output> {
  const later = (yield (_, later) => later) as boolean;
  return later ? laterOutput(routine, name, to, reads) : { entries: to, write() {} };
}

/** The same on an asynchronous engine, which writes memory that cannot go in one step itself. */
export function laterOutput(routine: string, name: string, to: StridedMatrix, reads: boolean): Output {
  return isLasting(to.data) ? { entries: to, write() {} } : copiedOutput(routine, name, to, reads);
}

/** A copy, whatever memory the output is in. */
export function copiedOutput(routine: string, name: string, to: StridedMatrix, reads: boolean): Output {
  const { lines, length, stride: step } = contiguousLines(to);
  const end = to.offset + (lines - 1) * step + length;
  const data = newVector(routine, to.data, lines * length);
  const each = (copy: (there: Real, here: Real) => void): void => {
    for (let l = 0; l < lines; l++) copy(part(to.data, to.offset + l * step, length), part(data, l * length, length));
  };
  if (reads) each((there, here) => here.set(there));
  return {
    entries: compactLike(to, data),
    write() {
      if (to.data.length < end)
        throw new ShapeError(
          `${routine}: ${name} has length ${to.data.length} when the call is through, expected at least ${end} (its buffer was detached or resized meanwhile)`,
        );
      each((there, here) => there.set(here));
    },
  };
}

// Memory that cannot go: a device's, or shared memory of a fixed size, in which threads keep residents.
function isLasting(data: Real): boolean {
  if (remoteMemory(data)) return true;
  const isShared = typeof SharedArrayBuffer !== "undefined" && data.buffer instanceof SharedArrayBuffer;
  return isShared && (data.buffer as { growable?: boolean }).growable !== true;
}
