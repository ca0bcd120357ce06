// OpenCL's queries as functions that return lists, texts and numbers. Called by find.ts, device.ts and programs.ts.
import { check, type Handle, type Library } from "./library.ts";

const DEVICE_NOT_FOUND = -1;
const NO_DRIVER = -1001;

/** A list of handles. OpenCL is asked twice: for the length and for the elements. */
export function handlesOf(what: string, ask: (count: number, list: unknown, length: unknown) => number): Handle[] {
  const length = new Uint32Array(1);
  const code = ask(0, null, length);
  if (code === DEVICE_NOT_FOUND || code === NO_DRIVER) return [];
  check(`opencl: ${what}`, code);
  const list = new BigUint64Array(length[0] as number);
  if (list.length > 0) check(`opencl: ${what}`, ask(list.length, list, null));
  return [...list];
}

/** A text. OpenCL is asked twice: for the length and for the characters. */
export function textOf(ask: (bytes: number, value: unknown, length: unknown) => number): string {
  const length = new BigUint64Array(1);
  check("opencl", ask(0, null, length));
  const bytes = new Uint8Array(Number(length[0]));
  check("opencl", ask(bytes.length, bytes, null));
  return new TextDecoder().decode(bytes).replace(/\0.*$/s, "").trim();
}

/** A number of 4 or 8 bytes about a device. Both are little-endian: the upper half of a short one stays 0. */
export function numberOf(cl: Library, id: Handle, info: number): bigint {
  const value = new BigUint64Array(1);
  check("opencl", cl.clGetDeviceInfo(id, info, 8, value, null));
  return value[0] as bigint;
}
