// readMatrixMarket and writeMatrixMarket. The parts of a file are in header.ts, coordinates.ts and columns.ts.
import { describe } from "../arrays/checks.ts";
import { FormatError, ShapeError } from "../arrays/errors.ts";
import { checkMatrix, stridedView } from "../arrays/matrix.ts";
import { checkSparse, MAX } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { Columns } from "./columns.ts";
import { Coordinates, type RowRange } from "./coordinates.ts";
import { checkMatrixMarketOptions, FIRST_LINE, type Header, hasHeader, type MatrixMarketOptions, readHeader, readSize } from "./header.ts";
import { eachLine } from "./lines.ts";

/**
 * Reads a Matrix Market file from a string or from chunks that may break anywhere. Coordinate format gives a sparse matrix by rows,
 * columns ascending; array format gives a matrix by columns. Symmetric matrices are filled. Every value is correctly rounded. Options
 * allow what the format does not. Throws a FormatError, with the line, if the text is not such a file.
 * @example
 * const A = await readMatrixMarket("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n");
 * A.values; // Float64Array(1) [ 0.5 ]
 */
export async function readMatrixMarket(
  text: string | AsyncIterable<string> | Iterable<string>,
  options: MatrixMarketOptions = {},
): Promise<Matrix | Sparse> {
  return (await readBody(text, options)).matrix();
}

/** Some rows of a sparse matrix. */
export interface SparseRows {
  /** The first of them. */
  readonly first: number;
  readonly A: Sparse;
  /** The rows, columns and entries of the whole matrix. */
  readonly rows: number;
  readonly cols: number;
  readonly entries: number;
}

/** Reads some rows of a Matrix Market file in coordinate format. It takes the memory of these rows. Duplicates count as several entries. */
export async function readMatrixMarketRows(
  text: AsyncIterable<string>,
  range: RowRange,
  options: Omit<MatrixMarketOptions, "headerless"> = {},
): Promise<SparseRows> {
  const body = (await readBody(text, options, range)) as Coordinates;
  return { first: body.first, A: body.matrix(), rows: body.size.rows, cols: body.size.cols, entries: body.full };
}

async function readBody(
  text: string | AsyncIterable<string> | Iterable<string>,
  options: MatrixMarketOptions,
  range?: RowRange,
): Promise<Columns | Coordinates> {
  const routine = "readMatrixMarket";
  checkMatrixMarketOptions(routine, options);
  const { headerless } = options;
  const file: { header?: Header; body?: Columns | Coordinates } = {};
  const lines = await eachLine(routine, chunksOf(routine, text), (line) => {
    if (file.header === undefined) {
      if (headerless === undefined || hasHeader(line)) {
        file.header = readHeader(line);
        if (range && file.header.format === "array") line.fail("a dense matrix", "a sparse one, in coordinate format");
        return;
      }
      if (line.isEmpty()) return;
      file.header = { format: "coordinate", field: "real", symmetry: "general", headerless };
      if (headerless === "entries") file.body = new Coordinates(routine, file.header, { rows: MAX, cols: MAX, entries: MAX }, options);
    } else if (line.isEmpty()) return;
    if (file.body === undefined) {
      const size = readSize(line, file.header, options);
      file.body =
        file.header.format === "array"
          ? new Columns(routine, file.header, size)
          : new Coordinates(routine, file.header, size, options, range);
    } else if (file.body.read < file.body.entries) file.body.take(line);
    else line.fail("more text", `the end of the file after ${file.body.entries} entries`);
  });
  const { header, body } = file;
  if (body !== undefined && header?.headerless === "entries") (body as Coordinates).finish();
  else if (body === undefined || body.read < body.entries) {
    const [found, expected] =
      body !== undefined
        ? [`${body.read} entries`, String(body.entries)]
        : header !== undefined
          ? ["only a header line", "the sizes"]
          : ["no lines", headerless ?? FIRST_LINE];
    throw new FormatError(`${routine}: the file ends before line ${lines + 1} with ${found}, expected ${expected}`, lines + 1);
  }
  return body;
}

function chunksOf(routine: string, text: string | AsyncIterable<string> | Iterable<string>): AsyncIterable<string> | Iterable<string> {
  if (typeof text === "string") return [text];
  const iterable = typeof text === "object" && text !== null && (Symbol.asyncIterator in text || Symbol.iterator in text);
  if (iterable && !ArrayBuffer.isView(text)) return text;
  throw new ShapeError(`${routine}: text is ${describe(text)}, expected a string or an iterable of strings`);
}

const CHUNK = 2 ** 16; // characters: the buffer size of a file stream

/**
 * Writes a matrix as a Matrix Market file, in chunks: a sparse matrix in coordinate format, in its stored order, a dense one in array
 * format. Reading it returns the same bits. The matrix is read as the chunks are consumed.
 * @example
 * [...writeMatrixMarket(matrix(Float64Array.of(1, 2), 1, 2))].join(""); // '%%MatrixMarket matrix array real general\n1 2\n1\n2\n'
 */
export function writeMatrixMarket(
  A: Matrix<Float64Array> | Matrix<Float32Array> | Sparse<Float64Array> | Sparse<Float32Array>,
): Iterable<string> {
  const routine = "writeMatrixMarket";
  if (typeof A !== "object" || A === null || !("format" in A || "data" in A))
    throw new ShapeError(`${routine}: A is ${describe(A)}, expected a matrix (see matrix()) or a sparse one (see csr() and csc())`);
  let lines: () => Iterable<string>;
  if ("format" in A) {
    checkSparse(routine, "A", A);
    lines = () => sparseLines(A);
  } else {
    checkMatrix(routine, "A", A);
    lines = () => arrayLines(A);
  }
  return { [Symbol.iterator]: () => inChunks(lines()) };
}

/** Lines as chunks of about 64 KiB. */
export function* inChunks(lines: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

function* sparseLines({ format, rows, cols, pointers, indices, values }: Sparse<Real>): Generator<string> {
  yield `%%MatrixMarket matrix coordinate real general\n${rows} ${cols} ${values.length}\n`;
  for (let major = 0, p = 0; major < pointers.length - 1; major++)
    for (; p < (pointers[major + 1] as number); p++) {
      const index = (indices[p] as number) + 1;
      const number = numeral(values[p] as number);
      yield format === "csr" ? `${major + 1} ${index} ${number}\n` : `${index} ${major + 1} ${number}\n`;
    }
}

function* arrayLines(A: Matrix<Real>): Generator<string> {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  yield `%%MatrixMarket matrix array real general\n${rows} ${cols}\n`;
  for (let j = 0; j < cols; j++)
    for (let i = 0; i < rows; i++) yield `${numeral(data[offset + i * rowStride + j * colStride] as number)}\n`;
}

/**
 * The fewest digits that read back as this binary64 number, as String() prints them, except that -0 keeps its sign. A binary32 number is
 * written as a binary64 number: its shortest binary32 digits would read back as another one.
 */
export function numeral(x: number): string {
  if (Number.isFinite(x)) return Object.is(x, -0) ? "-0" : String(x);
  return x !== x ? "nan" : x > 0 ? "inf" : "-inf";
}
