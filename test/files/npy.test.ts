import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { FormatError, type Matrix, matrix, type Real, readNpy, ShapeError, writeNpy } from "../../src/index.ts";
import { caught } from "../caught.ts";
import { storedBits } from "../hex.ts";

// Files as NumPy 2.4 wrote them with numpy.lib.format.write_array, in base64.
const NUMPY: Record<string, string> = JSON.parse(readFileSync(new URL("numpy.json", import.meta.url), "utf8"));
const numpy = (name: string): Uint8Array => Uint8Array.from(Buffer.from(NUMPY[name] as string, "base64"));

const V = Float64Array.of(0.1, -0, Number.POSITIVE_INFINITY, 5e-324);
const W = Float32Array.of(0.1, -0, Number.POSITIVE_INFINITY, 1e-45);
const ROWS = Float64Array.of(0.25, 1.25, 2.25, 3.25, 4.25, 5.25);
const COLUMNS = Float64Array.of(0.25, 3.25, 1.25, 4.25, 2.25, 5.25);

function sameVector(value: Real | Matrix<Real>, expected: Real): void {
  expect(ArrayBuffer.isView(value)).toBe(true);
  expect((value as Real).constructor).toBe(expected.constructor);
  expect(storedBits(value as Real)).toEqual(storedBits(expected));
}

function sameMatrix(value: Real | Matrix<Real>, data: Real, rows: number, cols: number, order: "row" | "column"): void {
  const { data: found, ...rest } = value as Matrix<Real>;
  expect(rest).toEqual({ rows, cols, order, ld: order === "row" ? cols : rows, offset: 0 });
  sameVector(found, data);
}

// A file with this header, of version 1 and as short as can be, and zeros behind it.
function file(header: string, bytes = 0, version = 1): Uint8Array {
  const length = version === 1 ? [header.length & 255, header.length >> 8] : [header.length & 255, (header.length >> 8) & 255, 0, 0];
  const text = Array.from(header, (c) => c.charCodeAt(0));
  return Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0, ...length, ...text, ...new Uint8Array(bytes));
}
const dict = (shape: string, descr = "'<f8'", order = "False"): string =>
  `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }\n`;

describe("reading what NumPy wrote", () => {
  test.each(["vector <f8", "vector >f8", "version 2", "version 3"])("%s", (name) => sameVector(readNpy(numpy(name)), V));
  test.each(["vector <f4", "vector >f4"])("%s", (name) => sameVector(readNpy(numpy(name)), W));
  test("matrices in both orders", () => {
    sameMatrix(readNpy(numpy("matrix C")), ROWS, 2, 3, "row");
    sameMatrix(readNpy(numpy("matrix F")), COLUMNS, 2, 3, "column");
    sameMatrix(readNpy(numpy("matrix F >f4")), Float32Array.from(COLUMNS), 2, 3, "column");
    sameMatrix(readNpy(numpy("0 by 3")), new Float64Array(0), 0, 3, "row");
  });
  test("a number, and nothing", () => {
    sameVector(readNpy(numpy("scalar")), Float64Array.of(2.5));
    sameVector(readNpy(numpy("empty")), new Float64Array(0));
  });
  test("from the middle of a buffer", () => {
    const bytes = new Uint8Array(1000);
    bytes.set(numpy("vector >f8"), 3);
    sameVector(readNpy(bytes.subarray(3, 3 + numpy("vector >f8").length)), V);
  });
  test("integers and binary16, as binary64", () => {
    sameVector(readNpy(numpy("integers")), Float64Array.of(0, 1, 2));
    expect((readNpy(numpy("half")) as Real).constructor).toBe(Float64Array);
  });
  test.each([
    ["complex", /"<c16" \(complex numbers\), expected booleans, integers or floating point of at most 64 bits, '<' or '>'$/],
    ["text", /"<U2" \(text\)/],
    ["structure", /'descr' a list \(structures\)/],
    ["cube", /3 dimensions, shape \(1, 1, 1\), expected none, one or two/],
  ])("%s are refused by name", (name, message) => {
    expect(caught(() => readNpy(numpy(name)))).toMatchObject({ name: "FormatError", line: 0, message: expect.stringMatching(message) });
  });
});

describe("writing as NumPy does", () => {
  test.each<[string, Parameters<typeof writeNpy>[0]]>([
    ["vector <f8", V],
    ["vector <f4", W],
    ["empty", new Float64Array(0)],
    ["matrix C", matrix(ROWS, 2, 3)],
    ["matrix F", matrix(COLUMNS, 2, 3, { order: "column" })],
    ["0 by 3", matrix(new Float64Array(0), 0, 3)],
    ["1 by 3", matrix(ROWS, 1, 3, { order: "column" })],
  ])("%s, byte for byte", (name, value) => expect(writeNpy(value)).toEqual(numpy(name)));

  test("a matrix with gaps, in both orders", () => {
    const data = Float64Array.of(9, 0.25, 1.25, 2.25, 9, 3.25, 4.25, 5.25, 9);
    expect(writeNpy(matrix(data, 2, 3, { ld: 4, offset: 1 }))).toEqual(numpy("matrix C"));
    const columns = Float64Array.of(9, 9, 0.25, 3.25, 9, 1.25, 4.25, 9, 2.25, 5.25);
    expect(writeNpy(matrix(columns, 2, 3, { order: "column", ld: 3, offset: 2 }))).toEqual(numpy("matrix F"));
  });
  test("numbers start at a multiple of 64, whatever the shape", () => {
    for (const [rows, cols] of [
      [1, 1],
      [1000000, 0],
      [0, 2147483647],
      [12345, 7],
    ] as const) {
      const bytes = writeNpy(matrix(new Float32Array(rows * cols), rows, cols));
      expect((bytes.length - 4 * rows * cols) % 64).toBe(0);
      expect(readNpy(bytes)).toMatchObject({ rows, cols });
    }
  });
  test("NaN goes there and back with all its bits", () => {
    const x = new Float64Array(3);
    new BigUint64Array(x.buffer).set([0x7ff8000000000000n, 0xfff4dead0000beefn, 0x7ff0000000000001n]);
    sameVector(readNpy(writeNpy(x)), x);
    const y = new Float32Array(2);
    new Uint32Array(y.buffer).set([0x7fc00000, 0xffa0dead]);
    const back = readNpy(writeNpy(y)) as Float32Array;
    expect([...new Uint32Array(back.buffer)]).toEqual([0x7fc00000, 0xffa0dead]);
  });
  test.each([null, 3, [1, 2], "x", new Int32Array(2), {}])("%j is refused", (value) => {
    expect(caught(() => writeNpy(value as never))).toBeInstanceOf(ShapeError);
  });
  test("so is a matrix that is none", () => {
    expect(caught(() => writeNpy({ ...matrix(V, 2, 2), rows: 3 }))).toBeInstanceOf(ShapeError);
  });
});

describe("headers", () => {
  test.each([
    dict("(2,)"),
    dict("(2L,)"),
    dict("( 2 , )"),
    `{"descr":"<f8","fortran_order":False,"shape":(2,)}`,
    `{'shape': (2,), 'fortran_order': True, 'descr': '<f8'}   \n`,
  ])("%j is read", (header) => sameVector(readNpy(file(header, 16)), new Float64Array(2)));
  test("also in versions 2 and 3", () => {
    for (const version of [2, 3]) sameVector(readNpy(file(dict("(2,)"), 16, version)), new Float64Array(2));
  });

  // What must not be read: name, file, what the message says.
  const HOSTILE: [string, Uint8Array, RegExp][] = [
    ["nothing", new Uint8Array(0), /begins with "", expected/],
    ["another file", Uint8Array.from(Buffer.from("PK\x03\x04 and more")), /begins with "PK/],
    ["a version to come", file(dict("(2,)"), 16, 4), /version 4.0, expected 1.0, 2.0 or 3.0/],
    ["version 0", file(dict("(2,)"), 16, 0), /version 0.0/],
    ["a minor version", file(dict("(2,)"), 16).map((b, i) => (i === 7 ? 1 : b)), /version 1.1/],
    ["no length", file("").subarray(0, 9), /ends after 9 bytes/],
    ["no version", file("").subarray(0, 6), /ends after 6 bytes/],
    ["a header cut off", file(dict("(2,)")).subarray(0, 40), /ends after 40 bytes, expected a header of/],
    ["a header of 4 GiB", Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, 255, 255, 255, 255), /header of 4294967295 bytes/],
    ["Python code", file("__import__('os').system('rm -rf /')\n"), /has "__import__", expected {/],
    ["code for a size", file(dict("(__import__('os').system('id'),)")), /has "__import__", expected a string/],
    ["a product for a size", file(dict("(2*3,)"), 48), /has "\*", expected , or \)/],
    ["a call for a type", file(dict("(2,)", "str('<f8')"), 16), /has "str"/],
    ["10^18 rows", file(dict("(1000000000000000000,)")), /size of "1000000000000000000", expected at most/],
    ["10^15 rows", file(dict("(1000000000000000,)"), 8), /8 bytes of numbers, expected 8000000000000000/],
    ["2^70 entries", file(dict("(2000000000, 2000000000)")), /shape \(2000000000, 2000000000\), expected a file that can be stored/],
    ["10^15 empty rows", file(dict("(1000000000000000, 0)")), /shape \(1000000000000000, 0\), expected at most 2147483647 rows/],
    ["10^15 empty columns", file(dict("(0, 1000000000000000)")), /shape \(0, 1000000000000000\), expected at most 2147483647 rows/],
    ["integers of 128 bits", file(dict("(1,)", "'<i16'"), 16), /"<i16" \(integers of another width\), expected .*astype\(float\)\)$/],
    ["the machine's own integers", file(dict("(2,)", "'=i8'"), 16), /"=i8" \(in the byte order of the machine/],
    ["integers without a byte order", file(dict("(2,)", "'|i8'"), 16), /"\|i8"/],
    ["a boolean of two bytes", file(dict("(2,)", "'<b2'"), 4), /"<b2" \(booleans of another width\)/],
    ["complex numbers", file(dict("(1,)", "'<c16'"), 16), /"<c16" \(complex numbers\), expected [^(]*$/],
    ["more digits than any size has", file(dict(`(${"9".repeat(60000)},)`)), /a size of "9999/],
    ["a negative size", file(dict("(-1,)")), /has "-", expected/],
    ["half a row", file(dict("(2.5,)"), 16), /has "\.", expected/],
    ["True rows", file(dict("(True,)"), 8), /'shape' \(true\), expected a tuple of sizes/],
    ["a size that is no tuple", file(dict("(2)"), 16), /'shape' 2, expected a tuple/],
    ["a list of sizes", file(dict("[2]"), 16), /'shape' a list, expected a tuple/],
    ["an order of 1", file(dict("(2,)", "'<f8'", "1"), 16), /'fortran_order' 1, expected True or False/],
    ["the machine's own byte order", file(dict("(2,)", "'=f8'"), 16), /"=f8" \(in the byte order of the machine/],
    ["no byte order", file(dict("(2,)", "'|f8'"), 16), /"\|f8"/],
    ["objects", file(dict("(2,)", "'|O'"), 16), /"\|O" \(Python objects, which can be code\)/],
    ["a type from the prototype", file(dict("(2,)", "'constructor'"), 16), /'descr' "constructor"/],
    ["a key from the prototype", file("{'__proto__': 1, }"), /key "__proto__", expected 'descr'/],
    ["a key twice", file("{'shape': (1,), 'shape': (2,), }"), /key 'shape' again/],
    ["a key too few", file("{'descr': '<f8', 'shape': (2,), }", 16), /no key 'fortran_order'/],
    ["a key too many", file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}", 16), /key "x"/],
    ["more after the dictionary", file(`${dict("(2,)").trimEnd()} + 1\n`, 16), /more text, "\+ 1"/],
    ["a dictionary that does not end", file("{'descr': '<f8'   "), /an end, expected , or }/],
    ["a string that does not end", file("{'descr': '<f8"), /has "'"/],
    ["an escape", file(dict("(2,)", "'\\x3cf8'"), 16), /has "'"/],
    ["brackets to the bottom of the stack", file("{'shape': ".concat("(".repeat(60000))), /brackets within brackets/],
    ["only blanks", file(" ".repeat(60000)), /an end, expected {/],
    ["a byte too few", file(dict("(2,)"), 15), /15 bytes of numbers, expected 16 \(shape \(2\), 8 bytes each\)/],
    ["a byte too many", file(dict("(2,)"), 17), /17 bytes of numbers, expected 16/],
    ["an array behind the array", Uint8Array.of(...numpy("matrix C"), ...numpy("matrix C")), /bytes of numbers, expected 48/],
  ];
  test.each(HOSTILE)("%s: refused after a few tokens", (_, bytes, message) => {
    const scan = vi.spyOn(RegExp.prototype, "exec");
    const error = caught(() => readNpy(bytes));
    const tokens = scan.mock.calls.length;
    scan.mockRestore();
    expect(tokens).toBeLessThan(100);
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toMatch(/^readNpy: [^\n]{1,200}$/);
  });
  test("every prefix of a file is refused, and every byte of a header may be any other without harm", () => {
    const whole = numpy("matrix F");
    for (let n = 0; n < whole.length; n++) expect(caught(() => readNpy(whole.subarray(0, n)))).toBeInstanceOf(FormatError);
    for (let at = 0; at < 80; at++)
      for (let byte = 0; byte < 256; byte += 3) {
        const damaged = whole.slice();
        damaged[at] = byte;
        try {
          readNpy(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      }
  });
  test("what is no array of bytes is a ShapeError", () => {
    for (const value of ["x", [1], new Float64Array(3), undefined])
      expect(caught(() => readNpy(value as never))).toBeInstanceOf(ShapeError);
  });
});
