// Arrays in buffers of a device: residents, and what routines keep on the device between their steps.
import { EngineError } from "../arrays/errors.ts";
import { EngineArray } from "../arrays/operands.ts";
import type { Real } from "../arrays/types.ts";
import type { DeviceBuffer } from "./device.ts";

/** An array in a buffer of a device. */
export class DeviceArray extends EngineArray {
  constructor(
    type: EngineArray["type"],
    length: number,
    readonly buffer: DeviceBuffer,
  ) {
    super(type, length);
  }

  private readonly derived: { free(): void }[] = [];

  /** Keep something that was made of this array until the array is freed. */
  keep(derived: { free(): void }): void {
    this.derived.push(derived);
  }

  /** Free the buffer, and what was kept with it. */
  free(): void {
    for (const each of this.derived.splice(0)) each.free();
    this.buffer.free();
  }

  /** An array of the type of `like`. */
  static like(like: Real | Int32Array | EngineArray, length: number, buffer: DeviceBuffer): DeviceArray {
    const type =
      like instanceof EngineArray
        ? like.type
        : like instanceof Int32Array
          ? "int32"
          : like.BYTES_PER_ELEMENT === 8
            ? "binary64"
            : "binary32";
    return new DeviceArray(type, length, buffer);
  }
}

/** The buffer of an array that must be on a device. */
export function bufferOf(x: Real | Int32Array | EngineArray): DeviceBuffer {
  if (x instanceof DeviceArray) return x.buffer;
  throw new EngineError("an array is not on the device, expected one that is");
}
