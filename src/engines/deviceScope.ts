// The device memory of one call, and the transfer of its operands. Every routine of an engine on a device runs in a scope.
import { compactLike, contiguousLines, type StridedOperand } from "../arrays/matrix.ts";
import { isOnHost, type Operand } from "../arrays/operands.ts";
import { newVector, part } from "../arrays/vectors.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Work } from "./device.ts";
import { bufferOf } from "./deviceArray.ts";

/** The device memory of one call, except residents. */
export class Scope {
  private readonly buffers: DeviceBuffer[] = [];

  constructor(
    readonly device: Device,
    readonly routine: string,
  ) {}

  /** New memory, uninitialized. */
  scratch(bytes: number): DeviceBuffer {
    const buffer = this.device.allocate(this.routine, bytes);
    this.buffers.push(buffer);
    return buffer;
  }

  /** Release this memory together with the scope's own. */
  adopt(buffer: DeviceBuffer): void {
    this.buffers.push(buffer);
  }

  /** New memory with a copy of this data. */
  copy(from: ArrayBufferView): DeviceBuffer {
    const buffer = this.scratch(from.byteLength);
    this.device.write(buffer, from);
    return buffer;
  }

  /** The memory of a vector on the device, or a copy of one on the host. */
  vector(x: Operand): DeviceBuffer {
    return isOnHost(x) ? this.copy(x) : bufferOf(x);
  }

  /** Memory for a vector that will be written: its own on the device, or new memory, uninitialized. */
  result(x: Operand): DeviceBuffer {
    return isOnHost(x) ? this.scratch(x.byteLength) : bufferOf(x);
  }

  /** A matrix on the device, or a copy without gaps of one on the host. */
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

  /** Wait for a result. If x is on the host, write it there in one step. */
  *store(buffer: DeviceBuffer, x: Operand): Work<void> {
    if (!isOnHost(x)) {
      yield this.device.finish();
      return;
    }
    const copy = newVector(this.routine, x, x.length);
    yield this.device.read(buffer, copy);
    x.set(copy);
  }

  /** Release the memory. Commands already given may still use it. */
  free(): void {
    for (const buffer of this.buffers.splice(0)) buffer.free();
  }

  /** Release the memory for immediate reuse, when all commands that use it have finished. */
  recycle(): void {
    for (const buffer of this.buffers.splice(0)) buffer.recycle();
  }
}

/** Run a call with memory of its own, released when it returns or fails. The call must end with a wait. */
export function* inScope<R>(device: Device, routine: string, work: (scope: Scope) => Work<R>): Work<R> {
  const scope = new Scope(device, routine);
  try {
    const result = yield* work(scope);
    scope.recycle();
    return result;
  } finally {
    scope.free(); // after a failure, memory may still be in use
  }
}
