import { closeSync, constants, openSync, rmSync } from "node:fs";
import { access, type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { writeMatrixMarket } from "../../files/matrixMarket.ts";
import { writeNpy } from "../../files/npy.ts";
import { UsageError } from "../command.ts";
import { formatByName } from "../input/formats.ts";

export type Saved = Real | Matrix<Float64Array> | Matrix<Float32Array>;

const FORMATS = ["npy", "mtx"] as const;

/** Throws at once for a path that could not be written after long work. */
export async function checkOutput(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  formatByName(path, FORMATS);
  await checkPlace(path);
}

/** The same for a file of any kind. */
export async function checkPlace(path: string): Promise<void> {
  const folder = await stat(dirname(path));
  if (!folder.isDirectory()) throw new UsageError(`${path}: ${dirname(path)} is no folder`);
  const present = await stat(path).catch(() => undefined);
  if (present?.isDirectory() === true) throw new UsageError(`${path}: this is a folder, expected a file`);
  // What is no file is written as it is; a file is written beside its place.
  if (present === undefined || present.isFile()) await access(dirname(present === undefined ? path : await realpath(path)), constants.W_OK);
  else await access(path, constants.W_OK);
}

/** Write a vector or a matrix, as the name of the file tells. A vector is a matrix of one column in Matrix Market. */
export async function save(path: string, value: Saved): Promise<void> {
  if (formatByName(path, FORMATS) === "npy") return writeWhole(path, [writeNpy(value)]);
  const A = ArrayBuffer.isView(value) ? matrix(value as Float64Array, value.length, 1) : value;
  return writeWhole(path, writeMatrixMarket(A));
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * A file that is there whole or not at all: written beside its place and moved when it is done. Whoever stops the process finds
 * nothing left behind. What is there and is no file, a pipe or a device, is written as it is.
 */
export async function writeWhole(path: string, pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>): Promise<void> {
  const present = await stat(path).catch(() => undefined);
  if (present !== undefined && !present.isFile()) return writeTo(path, await open(path, "w"), pieces);
  const place = present === undefined ? path : await realpath(path); // not over a link to it
  const beside = join(dirname(place), `.${basename(place)}.${process.pid}.tmp`);
  const stop = (signal: NodeJS.Signals): void => {
    rmSync(beside, { force: true }); // it may just have been moved
    for (const each of SIGNALS) process.off(each, stop);
    process.kill(process.pid, signal); // and now as if nobody had listened
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  let made = false;
  try {
    // Made at once, with the signals already caught: none can come between the file and whoever removes it.
    closeSync(openSync(beside, "wx"));
    made = true;
    await writeTo(path, await open(beside, "w"), pieces);
    await rename(beside, place);
  } catch (error) {
    if (made) await rm(beside, { force: true });
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

async function writeTo(
  path: string,
  handle: FileHandle,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { path }); // which a handle does not know
  } finally {
    await handle.close();
  }
}
