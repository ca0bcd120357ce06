// Outputs of asynchronous calls, for the routines and src/api/engine.ts. Until the promise resolves, the caller may transfer or shrink
// the buffer of an output. So the engine writes a copy, which is checked and copied to the output in one step at the end.

import { ShapeError } from "../arrays/errors.ts";
import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand } from "../arrays/matrix.ts";
import { isOnHost, type Operand } from "../arrays/operands.ts";
import type { Real } from "../arrays/types.ts";
import { newVector, part } from "../arrays/vectors.ts";

/** The output of a call: the engine writes `entries`, and write() copies them to the caller's array at the end. */
export interface Output<V extends Operand = Operand> {
  readonly entries: StridedMatrix<V>;
  write(): void;
}

/** The output of a routine: in place on a synchronous engine, otherwise a copy. `reads`: the routine reads its old entries. */
export function outputOf(later: boolean, routine: string, name: string, to: StridedOperand, reads: boolean): Output {
  return later ? asyncOutput(routine, name, to, reads) : { entries: to, write: nothing };
}

const nothing = (): void => {};

/** The output on an asynchronous engine: in place if the memory cannot be detached, otherwise a copy. */
export function asyncOutput(routine: string, name: string, to: StridedOperand, reads: boolean): Output {
  const { data } = to;
  return isOnHost(data) && !cannotBeDetached(data) ? copiedOutput(routine, name, { ...to, data }, reads) : { entries: to, write: nothing };
}

/** The output as a copy, whatever memory it is in. */
export function copiedOutput(routine: string, name: string, to: StridedMatrix, reads: boolean): Output<Real> {
  const { lines, length, stride } = contiguousLines(to);
  const end = to.offset + (lines - 1) * stride + length;
  const data = newVector(routine, to.data, lines * length);
  const forLines = (visit: (original: Real, copy: Real) => void): void => {
    for (let l = 0; l < lines; l++) visit(part(to.data, to.offset + l * stride, length), part(data, l * length, length));
  };
  if (reads) forLines((original, copy) => copy.set(original));
  return {
    entries: compactLike(to, data),
    write() {
      if (to.data.length < end)
        throw new ShapeError(
          `${routine}: ${name} has length ${to.data.length} when the call completes, expected at least ${end} (its buffer was detached or resized meanwhile)`,
        );
      forLines((original, copy) => original.set(copy));
    },
  };
}

// Shared memory of a fixed size, which holds the residents of threads, cannot be detached.
function cannotBeDetached(data: Real): boolean {
  const isShared = typeof SharedArrayBuffer !== "undefined" && data.buffer instanceof SharedArrayBuffer;
  return isShared && (data.buffer as { growable?: boolean }).growable !== true;
}
