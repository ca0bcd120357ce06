// Reads files under mpirun: dense matrices block by block, sparse ones by rows, vectors whole on every rank. solve, lu and the iterative
// solvers use it.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { ShapeError } from "../../arrays/errors.ts";
import type { SparseRows } from "../../files/matrixMarket.ts";
import { checkDimensions } from "../../files/npyHeader.ts";
import type { Context } from "../../ranks/context.ts";
import type { DistributedMatrix } from "../../ranks/dense/matrix.ts";
import { type Io, UsageError } from "../command.ts";
import type { Job } from "../commands/job.ts";
import { formatByName, splitPath } from "./formats.ts";
import { asMatrix, isADirectory, type Loaded, load, notAMatrix, rowsOfMatrixMarket, widened } from "./load.ts";
import { openNumbers, partOf } from "./numbers.ts";
import { MATRIX_FORMATS, type Reading } from "./reading.ts";

/**
 * A dense matrix. Each rank reads its own blocks of a .npy file; rank 0 reads other files and deals them out. binary32 numbers are
 * converted exactly, or refused if `format` is given.
 */
export async function distributedMatrix(
  { each, atRoot }: Job,
  context: Context,
  path: string,
  reading: Reading,
  io: Io,
  format?: "binary64",
): Promise<DistributedMatrix> {
  const { readNpy } = await import("../../ranks/dense/npy.ts");
  const { scatter } = await import("../../ranks/dense/transfer.ts");
  if ((reading.format ?? formatByName(path, MATRIX_FORMATS)) !== "npy")
    return scatter(context, await atRoot(async () => widened(asMatrix(path, await load(path, io, reading)))));
  await each(() => checkNpy(path, io, format));
  return readNpy(context, path);
}

// Refuses what load() refuses, in the same words.
async function checkNpy(path: string, io: Io, format: "binary64" | undefined): Promise<void> {
  await checkRegular(path);
  const { count, shape, width, close } = await openNumbers(path, { format: "npy" }, io);
  await close();
  checkDimensions(path, shape ?? []);
  if (shape?.length !== 2) throw notAMatrix(path, count as number);
  if (format === "binary64" && width !== 8) throw new ShapeError(`${path} has 32-bit numbers, expected 64 bits under mpirun`);
}

/** The contents of a file that every rank reads. */
export async function loadOnRank(path: string, reading: Reading, io: Io): Promise<Loaded> {
  await checkRegular(path);
  return load(path, io, reading);
}

/** The rows of a sparse matrix that this rank keeps. */
export async function sparseRows({ each }: Job, { comm }: Context, path: string, reading: Reading): Promise<SparseRows> {
  return each(async () => {
    await checkRegular(path);
    if ((reading.format ?? formatByName(path, MATRIX_FORMATS)) !== "mtx")
      throw new ShapeError(`${path} is dense, expected a sparse matrix under mpirun (.mtx, coordinate format)`);
    return rowsOfMatrixMarket(path, createReadStream(path, { encoding: "utf8" }), (rows) => partOf(rows, comm), reading.mtx);
  });
}

// Every rank opens the file.
async function checkRegular(path: string): Promise<void> {
  const found = await stat(splitPath(path).file);
  if (found.isDirectory()) throw isADirectory(path);
  if (!found.isFile()) throw new UsageError(`${path} is a pipe or a device, expected a file that every rank can read`);
}
