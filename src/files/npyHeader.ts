// The header of a .npy file: a magic string, a version, a length, and a Python dictionary literal with three keys. NEP 1, A Simple File
// Format for NumPy Arrays (2007), with versions 2 (2011) and 3 (2018). A tokenizer that knows only the tokens of such a literal reads it;
// nothing is ever evaluated. npy.ts and the command call it.
import { FormatError } from "../arrays/errors.ts";
import { quoted } from "./lines.ts";
import { type NpyLayout, npyType } from "./npyTypes.ts";

export const MAGIC = "\x93NUMPY";
/** The bytes up to the length of the header: magic string, version, and at most four for the length. */
export const PREFIX = 12;
// Version 1 has 16 bits for the length. Versions 2 and 3 allow 4 GiB, for field names, which are not supported here.
const MAX_HEADER = 65535;
const MAX = 2 ** 31 - 1;
const KINDS: Record<string, string> = {
  b: "booleans of another width",
  i: "integers of another width",
  u: "unsigned integers of another width",
  f: "floating point of another width",
  c: "complex numbers",
  m: "time spans",
  M: "dates",
  O: "Python objects, which can be code",
  S: "bytes",
  U: "text",
  V: "structures",
};

/** The contents of a header. */
export interface NpyHeader extends NpyLayout {
  /** The number of numbers that follow. */
  readonly count: number;
  /** Their offset in the file, in bytes. */
  readonly start: number;
}

/** The total length of the header in bytes, from the first PREFIX bytes of a file, or fewer if the file is shorter. */
export function npyHeaderLength(routine: string, prefix: Uint8Array): number {
  const magic = String.fromCharCode(...prefix.subarray(0, MAGIC.length));
  if (magic !== MAGIC) fail(routine, `the file begins with ${quoted(magic)}`, `"\\x93NUMPY"`);
  const [major, minor] = [prefix[6], prefix[7]];
  if (minor !== undefined && (minor !== 0 || major === 0 || (major as number) > 3))
    fail(routine, `version ${major}.${minor}`, "1.0, 2.0 or 3.0");
  const first = major === 1 ? 10 : 12;
  if (prefix.length < first) fail(routine, `the file ends after ${prefix.length} bytes`, `the length of the header in ${first} bytes`);
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER) fail(routine, `a header of ${length} bytes`, `at most ${MAX_HEADER}`);
  return first + length;
}

/** Parses the header of a file; `bytes` may extend beyond it. */
export function readNpyHeader(routine: string, bytes: Uint8Array): NpyHeader {
  const start = npyHeaderLength(routine, bytes.subarray(0, PREFIX));
  if (bytes.length < start) fail(routine, `the file ends after ${bytes.length} bytes`, `a header of ${start}`);
  const first = bytes[6] === 1 ? 10 : 12;
  const { descr, fortran_order, shape } = new Literal(routine, latin1(bytes.subarray(first, start))).dictionary();
  const type = npyType(descr);
  if (type === undefined) return refuseType(routine, descr);
  if (typeof fortran_order !== "boolean") fail(routine, `'fortran_order' ${describe(fortran_order)}`, "True or False");
  if (!Array.isArray(shape) || !shape.every((n) => typeof n === "number")) fail(routine, `'shape' ${describe(shape)}`, "a tuple of sizes");
  const count = shape.reduce((product, n) => product * n, 1);
  // The size of the file says nothing about the other dimension of an empty matrix.
  if (count === 0 && shape.some((n) => n > MAX)) fail(routine, `shape (${shape.join(", ")})`, `at most ${MAX} rows and columns`);
  if (!Number.isSafeInteger(count * type.width)) fail(routine, `shape (${shape.join(", ")})`, "a file that can be stored");
  return { type, fortranOrder: fortran_order, shape, count, start };
}

function refuseType(routine: string, descr: Value | undefined): never {
  const [, code = "", width] = (typeof descr === "string" && /^[<>|=]?([a-zA-Z])(\d*)/.exec(descr)) || [];
  const kind = typeof descr === "string" ? KINDS[code] : KINDS.V;
  const isNumber = "biuf".includes(code) && code !== "";
  // A type that would be read if its byte order were known.
  const why = isNumber && npyType(`<${code}${width}`) !== undefined ? "in the byte order of the machine that wrote them" : kind;
  return fail(
    routine,
    `'descr' ${describe(descr)}${why === undefined ? "" : ` (${why})`}`,
    `booleans, integers or floating point of at most 64 bits, '<' or '>'${isNumber ? " (NumPy: A.astype(float))" : ""}`,
  );
}

/** Throws unless this is the shape of a vector or a matrix. */
export function checkDimensions(routine: string, shape: readonly number[]): void {
  if (shape.length > 2) fail(routine, `${shape.length} dimensions, shape (${shape.join(", ")})`, "none, one or two");
}

type Value = string | boolean | number | Value[] | { readonly list: Value[] };
type Key = "descr" | "fortran_order" | "shape";
const KEYS: readonly string[] = ["descr", "fortran_order", "shape"];

// A string without escapes, a word, an integer (Python 2 wrote 3L), or a sign (any other character).
const TOKEN = /[ \n]*(?:'([^'\\\n]*)'|"([^"\\\n]*)"|([A-Za-z_]\w*)|(\d+)L?|([^ \n]))/y;

class Literal {
  private at = 0;
  private token: RegExpExecArray | undefined;

  constructor(
    private readonly routine: string,
    private readonly text: string,
  ) {}

  dictionary(): Partial<Record<Key, Value>> {
    const result: Partial<Record<Key, Value>> = {};
    this.expect("{");
    while (!this.takes("}")) {
      const key = this.value();
      if (typeof key !== "string" || !KEYS.includes(key)) this.fail(`the key ${describe(key)}`, KEYS.map((k) => `'${k}'`).join(", "));
      if (key in result) this.fail(`the key '${key}' again`, "it once");
      this.expect(":");
      result[key as Key] = this.value();
      if (!this.takes(",") && this.peek() !== "}") this.expect(", or }");
    }
    if (this.text.slice(this.at).trimEnd() !== "")
      this.fail(`more text, ${quoted(this.text.slice(this.at).trim())}`, "nothing after the }");
    const missing = KEYS.find((key) => !(key in result));
    if (missing !== undefined) this.fail(`no key '${missing}'`, "it");
    return result;
  }

  private value(): Value {
    const [, single, double, word, digits, sign] = this.next();
    const string = single ?? double;
    if (string !== undefined) return string;
    if (word === "True" || word === "False") return word === "True";
    if (digits !== undefined) return this.size(digits);
    if (sign === "(") return this.sequence(")");
    if (sign === "[") return { list: this.sequence("]") as Value[] }; // the type of a structure, named in the error
    return this.fail(
      word !== undefined ? quoted(word) : sign === undefined ? "an end" : quoted(sign),
      "a string, True, False, a size or a tuple",
    );
  }

  private size(digits: string): number {
    const n = Number(digits);
    return Number.isSafeInteger(n) ? n : this.fail(`a size of ${quoted(digits)}`, `at most ${Number.MAX_SAFE_INTEGER}`);
  }

  private depth = 0;

  // (3) is a number, and (3,) a tuple.
  private sequence(end: string): Value {
    const items: Value[] = [];
    let comma = end === "]";
    if (++this.depth > 4) this.fail("brackets within brackets", "a dictionary of three keys");
    while (!this.takes(end)) {
      items.push(this.value());
      if (this.takes(",")) comma = true;
      else if (this.peek() !== end) this.expect(`, or ${end}`);
    }
    this.depth--;
    return items.length === 1 && !comma ? (items[0] as Value) : items;
  }

  // The next token if it is a sign.
  private peek(): string | undefined {
    this.token ??= this.scan();
    return this.token?.[5];
  }

  private takes(sign: string): boolean {
    if (this.peek() !== sign) return false;
    this.next();
    return true;
  }

  private expect(sign: string): void {
    if (!this.takes(sign)) this.fail(this.token === undefined ? "an end" : quoted(this.token[0].trim()), sign);
  }

  private next(): RegExpExecArray | (string | undefined)[] {
    const token = this.token ?? this.scan();
    this.token = undefined;
    if (token === undefined) return [];
    this.at = token.index + token[0].length;
    return token;
  }

  private scan(): RegExpExecArray | undefined {
    TOKEN.lastIndex = this.at;
    return TOKEN.exec(this.text) ?? undefined;
  }

  private fail(found: string, expected: string): never {
    return fail(this.routine, `the header has ${found}`, expected);
  }
}

function describe(value: Value | undefined): string {
  if (Array.isArray(value)) return `(${value.map(describe).join(", ")})`;
  if (typeof value === "object") return "a list";
  return typeof value === "string" ? quoted(value) : String(value);
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte); // at most 65535
  return text;
}

function fail(routine: string, found: string, expected: string): never {
  throw new FormatError(`${routine}: ${found}, expected ${expected}`);
}

// NumPy leaves room for the first dimension to grow to this many digits without moving the numbers.
const GROWTH = 21;
const ALIGNMENT = 64;

/** The header of a file of version 1.0, byte for byte as NumPy writes it. */
export function writeNpyHeader(width: 4 | 8, fortranOrder: boolean, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const growing = String(shape[fortranOrder ? shape.length - 1 : 0]).length;
  const literal = `{'descr': '<f${width}', 'fortran_order': ${fortranOrder ? "True" : "False"}, 'shape': (${sizes}), }`;
  const text = literal + " ".repeat(Math.max(0, GROWTH - growing));
  const first = 10;
  const total = first + text.length + 1;
  const bytes = new Uint8Array(total + ALIGNMENT - (total % ALIGNMENT)).fill(0x20);
  const write = (at: number, part: string): void => {
    for (let i = 0; i < part.length; i++) bytes[at + i] = part.charCodeAt(i);
  };
  write(0, `${MAGIC}\x01\x00`);
  new DataView(bytes.buffer).setUint16(8, bytes.length - first, true);
  write(first, text);
  bytes[bytes.length - 1] = 0x0a;
  return bytes;
}
