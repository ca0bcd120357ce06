import { EngineError } from "../../../arrays/errors.ts";
import type { StridedMatrix } from "../../../arrays/matrix.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { Kept } from "../../memory.ts";
import { remoteArray, remoteMemory } from "../../remote.ts";
import { long } from "./numbers.ts";
import { Scope } from "./scope.ts";
import { transpose } from "./sources.generated.ts";

// Data that stays on the device between calls.

type Array = Real | Int32Array;

/** An array on the device with these pieces, each from its place on. */
export function upload<V extends Array>(device: Device, like: V, length: number, pieces: Iterable<readonly [V, number]>): Kept<V> {
  const width = like.BYTES_PER_ELEMENT;
  const buffer = device.allocate("upload", length * width);
  try {
    for (const [piece, at] of pieces) device.write(buffer, piece, at * width);
  } catch (error) {
    buffer.free();
    throw error;
  }
  return { array: remoteArray(like, length, buffer), free: () => buffer.free() };
}

/** So many elements of an array on the device, from one on. */
export function* fetch<V extends Array>(device: Device, routine: string, x: V, from: number, length: number): Work<V> {
  const copy = x instanceof Int32Array ? new Int32Array(length) : newVector(routine, x as Real, length);
  yield device.read(memoryOf(x), copy, from * x.BYTES_PER_ELEMENT);
  return copy as V;
}

/** The copies that routines keep between their steps: each goes when nobody knows it any more. */
export class Copies {
  private readonly collected = new FinalizationRegistry<DeviceBuffer>((buffer) => buffer.free());

  constructor(private readonly device: Device) {}

  /** A copy, row by row. */
  keep(routine: string, A: StridedMatrix): Real {
    const { device } = this;
    const { rows, cols } = A;
    const scope = new Scope(device, routine);
    const width = A.data.BYTES_PER_ELEMENT;
    const to = device.allocate(routine, rows * cols * width);
    try {
      const { buffer, offset, rowStride, colStride } = scope.matrix(A);
      if (colStride === 1 && (rowStride === cols || rows === 1)) device.copy(buffer, to, rows * cols * width, offset * width);
      else this.transpose(buffer, offset, rowStride, colStride, to, rows, cols, width);
    } catch (error) {
      to.free();
      throw error;
    } finally {
      scope.free(); // OpenCL holds the memory until commands that were given are through
    }
    const copy = remoteArray(A.data, rows * cols, to);
    this.collected.register(copy, to);
    return copy;
  }

  private transpose(
    from: DeviceBuffer,
    offset: number,
    rowStride: number,
    colStride: number,
    to: DeviceBuffer,
    rows: number,
    cols: number,
    width: number,
  ): void {
    const { device } = this;
    const kernel = device.kernel("rowByRow", [transpose], { WORD: width === 8 ? "ulong" : "uint" });
    device.launch(
      kernel,
      [Math.ceil(cols / TILE), Math.ceil(rows / TILE)],
      [TILE, ROWS],
      [from, long(offset), long(rowStride), long(colStride), to, rows, cols],
    );
  }
}

const TILE = 32;
const ROWS = 8;

/** The memory of an array that must be on the device. */
export function memoryOf(x: Array): DeviceBuffer {
  const memory = remoteMemory(x);
  if (!memory) throw new EngineError("opencl: an array is not on the device, expected one that is");
  return memory;
}
