// readNpy(): a distributed matrix from a .npy file, of which every rank reads the header and its own blocks. files/npyHeader.ts knows the
// format. See Ranks.
import { describe } from "../../arrays/checks.ts";
import { FormatError, HalfulpError, ShapeError } from "../../arrays/errors.ts";
import { importByName } from "../../engines/importByName.js";
import { checkNpySize } from "../../files/npy.ts";
import { checkDimensions, type NpyHeader, npyHeaderLength, PREFIX, readNpyHeader } from "../../files/npyHeader.ts";
import { decode, rawBytes, vectorOf } from "../../files/npyTypes.ts";
import { type Context, together } from "../context.ts";
import { type Cyclic, checkDimension, checkGrid, Layout } from "../grid.ts";
import type { GridOptions } from "../types.ts";
import { DistributedMatrix, newPart } from "./matrix.ts";

/** What is used of Node's module fs. Most reads are short, and a promise takes longer than one. */
interface FileSystem {
  openSync(path: string, flags: string): number;
  fstatSync(file: number): { readonly size: number };
  readSync(file: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  closeSync(file: number): void;
}

/** A file that was opened. */
interface File {
  readonly header: NpyHeader;
  /** Fill a buffer with the bytes from this position on. */
  read(into: Uint8Array, position: number): void;
  close(): void;
}

// Numbers in one read, at most.
const CHUNK = 2 ** 20;

/** The matrix in a .npy file. Numbers of other types become binary64, which changes no value. */
export function readNpy(context: Context, path: string, options: GridOptions = {}): Promise<DistributedMatrix> {
  return context.call("readNpy", () => {
    if (typeof path !== "string") throw new ShapeError(`readNpy: path is ${describe(path)}, expected a string`);
    const { blockSize, grid } = checkGrid("readNpy", options, context.comm.size);
    return {
      facts: { path, blockSize, grid: grid.join(" by ") },
      async body() {
        let file: File | undefined;
        try {
          const header = await together(context, "readNpy", async () => {
            file = open((await importByName("node:fs")) as FileSystem, path);
            return file.header;
          });
          const [rows, cols] = await sameShape(context, header);
          const layout = new Layout(rows, cols, blockSize, grid);
          const data = await together(context, "readNpy", () => {
            const part = newPart(context, layout);
            if (part.length > 0) readPart(file as File, layout, context.comm.rank, part);
            return part;
          });
          return new DistributedMatrix(context, layout, data);
        } finally {
          file?.close();
        }
      },
    };
  });
}

function open(fs: FileSystem, path: string): File {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, "r");
  } catch (cause) {
    throw new FormatError(`readNpy: ${path} cannot be opened: ${(cause as Error).message}`, 0);
  }
  const close = (): void => fs.closeSync(descriptor);
  try {
    const { size } = fs.fstatSync(descriptor);
    const read = (into: Uint8Array, position: number): void => {
      for (let at = 0; at < into.length; ) {
        const count = fs.readSync(descriptor, into, at, into.length - at, position + at);
        if (count === 0) throw new FormatError(`readNpy: ${path} ends after ${position + at} bytes, expected ${position + into.length}`);
        at += count;
      }
    };
    const firstBytes = (length: number): Uint8Array => {
      const bytes = new Uint8Array(Math.min(length, size));
      read(bytes, 0);
      return bytes;
    };
    const header = readNpyHeader("readNpy", firstBytes(npyHeaderLength("readNpy", firstBytes(PREFIX))));
    checkNpySize("readNpy", header, size);
    checkDimensions("readNpy", header.shape);
    const [rows, cols] = header.shape;
    if (rows === undefined || cols === undefined)
      throw new FormatError(`readNpy: shape (${header.shape.join(", ")}${rows === undefined ? "" : ","}), expected two dimensions`);
    checkDimension("readNpy", "the number of rows", rows);
    checkDimension("readNpy", "the number of columns", cols);
    return { header, read, close };
  } catch (error) {
    close();
    if (error instanceof HalfulpError) throw error;
    throw new FormatError(`readNpy: ${path} cannot be read: ${(error as Error).message}`, 0);
  }
}

// The shape, which must be the same on all ranks: on several machines a path can mean several files.
async function sameShape({ comm }: Context, { shape }: NpyHeader): Promise<[rows: number, cols: number]> {
  const own = new Float64Array(new ArrayBuffer(16));
  own.set(shape);
  const all = new Float64Array(new ArrayBuffer(16 * comm.size));
  await comm.gatherAll(own, all).wait();
  const [rows, cols] = all as unknown as [number, number];
  for (let rank = 1; rank < comm.size; rank++)
    if (all[2 * rank] !== rows || all[2 * rank + 1] !== cols)
      throw new FormatError(
        `readNpy: shape (${all[2 * rank]}, ${all[2 * rank + 1]}) on rank ${rank}, expected (${rows}, ${cols}) as on rank 0`,
      );
  return [rows, cols];
}

/** Consecutive indices of a part: from `place` in the part and from `index` in the whole. */
interface Run {
  readonly place: number;
  readonly index: number;
  readonly length: number;
}

function runsOf(cut: Cyclic, part: number): Run[] {
  const count = cut.count(part);
  const step = cut.parts === 1 ? count : cut.blockSize;
  const runs: Run[] = [];
  for (let place = 0; place < count; place += step)
    runs.push({ place, index: cut.global(part, place), length: Math.min(step, count - place) });
  return runs;
}

// The lines of the file are rows, or columns in Fortran order. Whole lines that follow one another are read together.
function readPart({ header, read }: File, layout: Layout, rank: number, part: Float64Array): void {
  const { fortranOrder, type, start } = header;
  const [, columns] = layout.shapeOn(rank);
  const rows = { cut: layout.rowCut, runs: runsOf(layout.rowCut, layout.gridRow(rank)), stride: columns };
  const cols = { cut: layout.colCut, runs: runsOf(layout.colCut, layout.gridCol(rank)), stride: 1 };
  const [lines, within] = fortranOrder ? [cols, rows] : [rows, cols];
  const length = within.cut.n;
  const numbers = vectorOf("readNpy", type, CHUNK);
  const bytes = rawBytes(type, numbers);
  const readNumbers = (from: number, count: number): void => {
    const piece = bytes.subarray(0, count * type.width);
    read(piece, start + from * type.width);
    decode("readNpy", header, piece, numbers.subarray(0, count), from);
  };
  for (const run of within.runs) {
    const longest = Math.min(run.length, CHUNK);
    const together = run.length === length ? Math.max(1, Math.floor(CHUNK / length)) : 1;
    for (const { place, index, length: count } of lines.runs)
      for (let l = 0; l < count; l += together)
        for (let k = 0; k < run.length; k += longest) {
          const several = Math.min(together, count - l);
          const each = Math.min(longest, run.length - k);
          readNumbers((index + l) * length + run.index + k, several * each);
          for (let m = 0; m < several; m++) {
            const to = (place + l + m) * lines.stride + (run.place + k) * within.stride;
            for (let e = 0; e < each; e++) part[to + e * within.stride] = numbers[m * each + e] as number;
          }
        }
  }
}
