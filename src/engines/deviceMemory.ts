// The memory of a device as an EngineMemory: residents, and what routines keep on the device between their steps.
import { rowMajor, type StridedOperand } from "../arrays/matrix.ts";
import type { EngineArray, Operand } from "../arrays/operands.ts";
import type { Real } from "../arrays/types.ts";
import { newIntegers, newVector } from "../arrays/vectors.ts";
import type { Device, Work } from "./device.ts";
import { bufferOf, DeviceArray } from "./deviceArray.ts";
import { Scope } from "./deviceScope.ts";
import type { Allocation, EngineMemory, Later, Piece } from "./memory.ts";

/** The memory of a device. `run` runs work and returns its result or a promise of it. */
export function deviceMemory(device: Device, run: (work: Work<unknown>) => unknown): EngineMemory {
  return {
    isOnHost: false,
    holdsPatterns: true,
    upload: (routine, like, length, pieces) => upload(device, routine, like, length, pieces),
    download<V extends Real | Int32Array>(routine: string, array: V | EngineArray, from = 0, length = array.length - from) {
      return run(download(device, routine, array, from, length)) as Later<V>;
    },
    keepMatrix: (routine, A, lasting) => keepMatrix(device, routine, A, lasting),
  };
}

/** See EngineMemory.upload. */
export function upload<V extends Real | Int32Array>(
  device: Device,
  routine: string,
  like: V,
  length: number,
  pieces: Iterable<Piece<V>>,
): Allocation<EngineArray> {
  const width = like.BYTES_PER_ELEMENT;
  const buffer = device.allocate(routine, length * width);
  try {
    for (const [elements, at] of pieces) device.write(buffer, elements, at * width);
  } catch (error) {
    buffer.free();
    throw error;
  }
  const value = DeviceArray.like(like, length, buffer);
  return { value, free: () => value.free() };
}

function* download(
  device: Device,
  routine: string,
  x: Real | Int32Array | EngineArray,
  from: number,
  length: number,
): Work<Real | Int32Array> {
  const isInteger = x instanceof Int32Array || ("type" in x && x.type === "int32");
  const copy = isInteger ? newIntegers(routine, length) : newVector(routine, x as Operand, length);
  yield device.read(bufferOf(x), copy, from * x.BYTES_PER_ELEMENT);
  return copy;
}

/** See EngineMemory.keepMatrix. */
export function keepMatrix(device: Device, routine: string, A: StridedOperand, lasting: boolean): Allocation<StridedOperand> {
  if (A.data instanceof DeviceArray && !lasting) return { value: A, free() {} };
  const { rows, cols } = A;
  const scope = new Scope(device, routine);
  const width = A.data.BYTES_PER_ELEMENT;
  const to = device.allocate(routine, rows * cols * width);
  try {
    const { buffer, offset, rowStride, colStride } = scope.matrix(A);
    if (colStride === 1 && (rowStride === cols || rows === 1)) device.copy(buffer, to, rows * cols * width, offset * width);
    else device.copyMatrix({ buffer, offset, rows, cols, rowStride, colStride }, to, width);
  } catch (error) {
    to.free();
    throw error;
  } finally {
    scope.free(); // OpenCL holds the memory until the commands that use it have finished
  }
  return { value: rowMajor(DeviceArray.like(A.data, rows * cols, to), rows, cols), free: () => to.free() };
}
