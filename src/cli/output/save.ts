// Writes output files: checked before the work starts, and replaced atomically when it is done.
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { access, type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { matrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { inChunks, numeral, writeMatrixMarket } from "../../files/matrixMarket.ts";
import { writeNpy } from "../../files/npy.ts";
import { UsageError } from "../command.ts";
import { formatByName } from "../input/formats.ts";

export type Saved = Real | Matrix<Float64Array> | Matrix<Float32Array>;

const FORMATS = ["npy", "mtx", "csv"] as const;

/** Fails early if a matrix or vector could not be written to this path. */
export async function checkOutput(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  formatByName(path, FORMATS);
  await checkWritable(path);
}

/** Fails early if a file could not be written to this path. */
export async function checkWritable(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(failsAt(path, `expected a directory ${dirname(path)}`));
  if (!folder.isDirectory()) throw new UsageError(`${path}: ${dirname(path)} is not a directory`);
  const present = await stat(path).catch(() => undefined);
  if (present?.isDirectory() === true) throw new UsageError(`${path} is a directory, expected a file`);
  // A regular file is replaced, which needs write access to its directory; a pipe or device is written in place.
  if (present === undefined || present.isFile())
    await access(dirname(present === undefined ? path : await realpath(path)), constants.W_OK).catch(failsAt(path, UNWRITABLE));
  else await access(path, constants.W_OK);
}

const UNWRITABLE = "its directory cannot be written";

/** Throws the error of a call on a directory or a temporary file as one of the file that the user gave, with a note. */
const failsAt =
  (path: string, note: string) =>
  (error: unknown): never => {
    throw Object.assign(error as NodeJS.ErrnoException, { path, note });
  };

/**
 * Writes a vector or a matrix in the format of the file's extension. In text a vector is a matrix with one column, and a binary32 number is
 * written as the binary64 number with its value, so that it is read back as that.
 */
export async function save(path: string, value: Saved): Promise<void> {
  const format = formatByName(path, FORMATS);
  if (format === "npy") return writeWhole(path, [writeNpy(value)]);
  const A = ArrayBuffer.isView(value) ? matrix(value as Float64Array, value.length, 1) : value;
  return writeWhole(path, format === "mtx" ? writeMatrixMarket(A) : inChunks(rows(A, /\.tsv$/i.test(path) ? "\t" : ",")));
}

function* rows(A: Matrix<Float64Array> | Matrix<Float32Array>, delimiter: string): Generator<string> {
  const { data, offset, rowStride, colStride } = stridedView(A);
  for (let i = 0; i < A.rows; i++) {
    const row = Array.from({ length: A.cols }, (_, j) => numeral(data[offset + i * rowStride + j * colStride] as number));
    yield `${row.join(delimiter)}\n`;
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Writes a file atomically: to a temporary file in the same directory, which is renamed when complete. A process that is stopped leaves
 * nothing behind. An existing pipe or device is written in place.
 */
export async function writeWhole(path: string, pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>): Promise<void> {
  const present = await stat(path).catch(() => undefined);
  if (present !== undefined && !present.isFile()) return writeTo(path, await open(path, "w"), pieces);
  const target = present === undefined ? path : await realpath(path); // keep a symbolic link
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  const stop = (signal: NodeJS.Signals): void => {
    rmSync(temporary, { force: true }); // it may just have been renamed
    for (const each of SIGNALS) process.off(each, stop);
    process.kill(process.pid, signal); // now with the default action
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  let created = false;
  try {
    // Created synchronously, after the signal handlers: no signal can leave the file behind.
    try {
      closeSync(openSync(temporary, "wx"));
    } catch (error) {
      failsAt(path, UNWRITABLE)(error);
    }
    created = true;
    await writeTo(path, await open(temporary, "w"), pieces);
    await rename(temporary, target).catch(failsAt(path, UNWRITABLE));
  } catch (error) {
    if (created) await rm(temporary, { force: true });
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
    throw Object.assign(error as NodeJS.ErrnoException, { path }); // errors of a handle have no path
  } finally {
    await handle.close();
  }
}
