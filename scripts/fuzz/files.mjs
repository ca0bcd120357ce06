// Mutated files for npm run fuzz: valid .npy, Matrix Market and CSV files with a few bytes changed, moved, lost or doubled. A reader must
// return something, and then something that survives a round trip, or throw one of the library's own errors.

import { HalfulpError } from "../../dist/arrays/errors.js";
import { matrix } from "../../dist/arrays/matrix.js";
import { csc } from "../../dist/arrays/sparse.js";
import { csvChunks, csvMatrix } from "../../dist/cli/input/csv.js";
import { Inputs, scattered } from "../../dist/everywhere/inputs.js";
import { readMatrixMarket, writeMatrixMarket } from "../../dist/files/matrixMarket.js";
import { readNpy, writeNpy } from "../../dist/files/npy.js";

const bytesOf = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const textOf = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

const inputs = new Inputs(2026, "binary64");
const singles = new Inputs(2027, "binary32");
const A = inputs.sparse(scattered(inputs.random, 4, 2), 9);
const marketOf = (value) => bytesOf([...writeMatrixMarket(value)].join(""));

const VALID = {
  npy: [
    writeNpy(inputs.vector(5, "bits")),
    writeNpy(singles.vector(3, "narrow")),
    writeNpy(inputs.matrix(2, 3, "narrow")),
    writeNpy(inputs.matrix(3, 2, "special", "column")),
    writeNpy(new Float64Array(0)),
  ],
  market: [
    marketOf(A),
    marketOf(csc(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(1, 0), inputs.vector(2, "bits"))),
    marketOf(matrix(inputs.vector(4, "narrow"), 2, 2)),
    ...[
      "%%MatrixMarket matrix coordinate real symmetric\n% comment\n\n3 3 2\n1 1 2.5\n3 1 -1e-3\n",
      "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n",
      "%%MatrixMarket matrix array integer skew-symmetric\r\n2 2\r\n7\r\n",
    ].map(bytesOf),
  ],
  csv: [
    "a,b\n1,2\n3,4\n",
    '1.5;"2"\n-0.1;3e5\n',
    '"x ""y""",z\r\n1,2\r\n\r\n3,4\r\n',
    "1\n2\n\n3\n",
    "\ufefft\n0.1\n".replace("\ufeff", "\xef\xbb\xbf"),
    "1\t2\t3\n4\t5\t6\n",
  ].map(bytesOf),
};

const WORDS = [
  "999999999999",
  "-1",
  "0",
  "1e999",
  "nan",
  "",
  "1_0",
  "0x1",
  '"',
  '""',
  "\r",
  "\n\n",
  ",",
  "%",
  "symmetric",
  "(1,)",
  "<f4",
  ">f8",
  "|b1",
  "True",
  "\0",
].map(bytesOf);

function join(...pieces) {
  let total = 0;
  for (const { length } of pieces) total += length;
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function changed(piece, change) {
  const copy = new Uint8Array(piece.length);
  for (let i = 0; i < piece.length; i++) copy[i] = change(piece[i]);
  return copy;
}

const NOTHING = new Uint8Array(0);

function mutated(random, file) {
  let bytes = file;
  for (let count = 1 + random.below(4); count > 0; count--) {
    const n = bytes.length;
    const at = random.below(n + 1);
    const end = Math.min(n, at + 1 + random.below(random.below(4) === 0 ? n + 1 : 6));
    const [head, piece, tail] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    switch (random.below(7)) {
      case 0:
        bytes = join(
          head,
          changed(piece, (byte) => byte ^ (1 << random.below(8))),
          tail,
        );
        break;
      case 1:
        bytes = join(
          head,
          changed(piece, () => random.below(256)),
          tail,
        );
        break;
      case 2:
        bytes = join(head, tail);
        break;
      case 3:
        bytes = join(head, piece, piece, tail);
        break;
      case 4:
        bytes = join(head, WORDS[random.below(WORDS.length)], random.below(2) ? piece : NOTHING, tail);
        break;
      case 5:
        bytes = join(tail, head);
        break;
      default:
        bytes = join(
          head,
          changed(piece, () => 48 + random.below(10)),
          tail,
        );
    }
    if (bytes.length > 4096) bytes = bytes.slice(0, 4096);
  }
  return bytes;
}

const sameBytes = (a, b) => Buffer.compare(a, b) === 0;
async function* once(bytes) {
  yield bytes;
}

const READERS = {
  npy(bytes) {
    const written = writeNpy(readNpy(bytes));
    return sameBytes(writeNpy(readNpy(written)), written);
  },
  async market(bytes) {
    const written = [...writeMatrixMarket(await readMatrixMarket(textOf(bytes)))].join("");
    return written.length > 100_000 || [...writeMatrixMarket(await readMatrixMarket(written))].join("") === written;
  },
  async csv(bytes) {
    const name = bytes.length % 2 ? "x.csv" : "x.tsv";
    if (bytes.length % 16 > 0) {
      const { data, rows, cols } = await csvMatrix(name, once(bytes), {});
      return data.length === rows * cols;
    }
    let numbers = 0;
    for await (const chunk of csvChunks(name, once(bytes), { missing: bytes.length % 32 ? "skip" : "refuse" })) numbers += chunk.length;
    return numbers <= bytes.length;
  },
};

const TOO_LONG = 5000; // milliseconds, for a file of 4 kB

const mutations = (kind) => ({
  family: "mutated files",
  withoutEngine: true,
  make({ random }) {
    return { bytes: mutated(random, VALID[kind][random.below(VALID[kind].length)]) };
  },
  async run(_, { bytes }) {
    const begin = performance.now();
    let survives = true;
    let error;
    try {
      survives = await READERS[kind](bytes);
    } catch (thrown) {
      error = thrown;
    }
    return { survives, error, milliseconds: performance.now() - begin };
  },
  elements: () => 0,
  judge(_, { survives, error, milliseconds }) {
    if (error !== undefined && !(error instanceof HalfulpError)) return `threw ${error?.stack ?? error}`;
    if (milliseconds > TOO_LONG) return `took ${milliseconds} ms`;
    return survives ? "" : "does not survive a round trip";
  },
  *shrink({ bytes }) {
    for (let size = bytes.length >> 1; size >= 1; size >>= 1)
      for (let from = 0; from < bytes.length; from += size) yield { bytes: join(bytes.subarray(0, from), bytes.subarray(from + size)) };
  },
});

export const FILES = { "files: .npy": mutations("npy"), "files: Matrix Market": mutations("market"), "files: CSV": mutations("csv") };
