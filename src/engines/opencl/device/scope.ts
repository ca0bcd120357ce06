import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";

/** A matrix on a device: entry (i, j) is element offset + i * rowStride + j * colStride of the buffer, and one of the steps is 1. */
export interface DeviceMatrix extends Omit<StridedMatrix, "data"> {
  readonly buffer: DeviceBuffer;
}

/** The device memory of one call: all of it goes with the call, but for residents. */
export class Scope {
  private readonly taken: DeviceBuffer[] = [];

  constructor(
    readonly device: Device,
    readonly routine: string,
  ) {}

  /** Memory with whatever it holds. */
  scratch(bytes: number): DeviceBuffer {
    const buffer = this.device.allocate(this.routine, bytes);
    this.taken.push(buffer);
    return buffer;
  }

  /** Memory with these bytes. */
  copy(from: ArrayBufferView): DeviceBuffer {
    const buffer = this.scratch(from.byteLength);
    this.device.write(buffer, from);
    return buffer;
  }

  /** A vector: where it is, or a copy. */
  vector(x: Operand): DeviceBuffer {
    return isOnHost(x) ? this.copy(x) : bufferOf(x);
  }

  /** A vector to be written: where it is, or new memory with whatever it holds. */
  result(x: Operand): DeviceBuffer {
    return isOnHost(x) ? this.scratch(x.byteLength) : bufferOf(x);
  }

  /** A matrix: where it is, or a copy without gaps. */
  matrix(A: StridedOperand): DeviceMatrix {
    const { data, ...layout } = A;
    if (!isOnHost(data)) return { ...layout, buffer: bufferOf(data) };
    const { lines, length, stride } = contiguousLines(A);
    const width = data.BYTES_PER_ELEMENT;
    const buffer = this.scratch(lines * length * width);
    if (stride === length || lines === 1) this.device.write(buffer, part(data, A.offset, lines * length));
    else if (length > 0)
      for (let l = 0; l < lines; l++) this.device.write(buffer, part(data, A.offset + l * stride, length), l * length * width);
    const { offset, rows, cols, rowStride, colStride } = compactLike(A, data);
    return { buffer, offset, rows, cols, rowStride, colStride };
  }

  /** Wait for a result, and write it in one step where it is not already: into memory of the caller. */
  *store(buffer: DeviceBuffer, x: Operand): Work<void> {
    if (!isOnHost(x)) {
      yield this.device.finish();
      return;
    }
    const copy = newVector(this.routine, x, x.length);
    yield this.device.read(buffer, copy);
    x.set(copy);
  }

  free(): void {
    for (const buffer of this.taken.splice(0)) buffer.free();
  }

  /** The same where all commands are through. */
  recycle(): void {
    for (const buffer of this.taken.splice(0)) buffer.recycle();
  }
}

/** A call with memory of its own, which goes when it is through or has failed. It ends with a wait. */
export function* inScope<R>(device: Device, routine: string, work: (scope: Scope) => Work<R>): Work<R> {
  const scope = new Scope(device, routine);
  try {
    const result = yield* work(scope);
    scope.recycle();
    return result;
  } finally {
    scope.free(); // what a call that failed took may still be in use
  }
}
