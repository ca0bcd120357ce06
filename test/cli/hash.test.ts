import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CHUNK } from "../../src/cli/input/chunks.ts";
import { csc, csr, matrix, toCsr, writeNpy } from "../../src/index.ts";
import { folder, halfulp, json } from "./cli.ts";

const { npy, mtx, put } = folder();
const bytes = (x: Float64Array | Float32Array | Int32Array): Uint8Array => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);
const sha256 = (...parts: Uint8Array[]): string => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
const hashOf = async (file: string): Promise<string> => ((await json(["hash", file])).files as { sha256: string }[])[0]?.sha256 as string;

describe("hash", () => {
  const x = Float64Array.from({ length: CHUNK + 17 }, (_, k) => Math.fround(Math.sin(k)));
  const nan = Float64Array.of(Number.NaN, -0, 1);
  new BigUint64Array(nan.buffer)[0] = 0xfff4dead0000beefn;

  test("of raw numbers it is what sha256sum says, and the file does not matter", async () => {
    const raw = put("x.f64", bytes(x));
    const [expected] = execFileSync("sha256sum", [raw], { encoding: "utf8" }).split(" ");
    const column = matrix(x, x.length, 1);
    for (const file of [raw, npy("x.npy", x), npy("c.npy", column), mtx("x.mtx", column)]) expect(await hashOf(file)).toBe(expected);
    const big = writeNpy(x);
    for (const [k, value] of x.entries()) new DataView(big.buffer, 128).setFloat64(8 * k, value);
    big[21] = ">".charCodeAt(0);
    expect(await hashOf(put("b.npy", big))).toBe(expected);
    expect(JSON.parse((await halfulp(["hash", "-", "--json"], [writeNpy(x)])).out).files[0]).toMatchObject({ sha256: expected, file: "-" });
  });
  test("a matrix is hashed row by row, whatever its order", async () => {
    const rows = matrix(Float64Array.of(1, 2, 3, 4, 5, 6), 2, 3);
    const columns = matrix(Float64Array.of(1, 4, 2, 5, 3, 6), 2, 3, { order: "column" });
    const expected = sha256(bytes(rows.data));
    for (const file of [npy("r.npy", rows), npy("f.npy", columns), mtx("r.mtx", rows)]) expect(await hashOf(file)).toBe(expected);
    expect((await halfulp(["hash", npy("f.npy", columns)])).out).toMatch(new RegExp(`^${expected}  binary64 2 by 3  .*f.npy\n$`));
  });
  test("NaN counts with all its bits, binary32 as it is", async () => {
    expect(await hashOf(npy("n.npy", nan))).toBe(sha256(bytes(nan)));
    expect(await hashOf(npy("N.npy", matrix(nan, 3, 1, { order: "column" })))).toBe(sha256(bytes(nan)));
    const twice = new Float64Array(6);
    new Int32Array(twice.buffer).set([...new Int32Array(nan.buffer), ...new Int32Array(nan.buffer)]);
    expect(await hashOf(npy("M.npy", matrix(twice, 2, 3)))).toBe(sha256(bytes(nan), bytes(nan)));
    const single = Float32Array.of(1, 0.1);
    expect(await hashOf(npy("s.npy", single))).toBe(sha256(bytes(single)));
    expect(await hashOf(put("s.f32", bytes(single)))).toBe(sha256(bytes(single)));
  });
  test("a sparse matrix by its rows, however it is stored", async () => {
    const A = csr(2, 3, Int32Array.of(0, 2, 3), Int32Array.of(0, 2, 1), Float64Array.of(1, 2, 3));
    const B = csc(2, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 0), Float64Array.of(1, 3, 2));
    const { pointers, indices, values } = toCsr(B);
    for (const file of [mtx("A.mtx", A), mtx("B.mtx", B)])
      expect(await hashOf(file)).toBe(sha256(bytes(pointers), bytes(indices), bytes(values)));
  });
  test("compared: exit code 1 where they differ", async () => {
    const [a, b, c] = [npy("a.npy", x), put("b.f64", bytes(x)), npy("d.npy", nan)];
    const hash = await hashOf(a);
    expect(await halfulp(["hash", a, b, "--same"])).toMatchObject({ code: 0, out: expect.stringMatching(/the same bits\n$/) });
    expect(await halfulp(["hash", a, c, "--same"])).toMatchObject({ code: 1, out: expect.stringMatching(/NOT the same bits\n$/) });
    expect(await halfulp(["hash", a, c])).toMatchObject({ code: 0 });
    expect(await halfulp(["hash", a, "--expect", hash.toUpperCase()])).toMatchObject({ code: 0 });
    expect(await halfulp(["hash", a, "--expect", hash.slice(0, 8)])).toMatchObject({ code: 0 });
    expect(await halfulp(["hash", c, "--expect", hash])).toMatchObject({ code: 1, out: expect.stringMatching(/NOT as expected/) });
    expect(await halfulp(["hash", a, "--expect", "abc"])).toMatchObject({ code: 2 });
  });
  test("the hash that a command tells is that of the file it writes", async () => {
    const said = await json(["trsv", put("T.csv", "2,0\n1,3\n"), put("b.csv", "1\n1\n"), "-o", put("o.npy", "")]);
    expect(await hashOf(said.output as string)).toBe(said.sha256);
    expect(readFileSync(said.output as string).length).toBe(128 + 16);
  });
  test("raw numbers from a stream", async () => {
    expect((await halfulp(["hash", "-", "--format", "raw"], [bytes(x)])).out).toBe(`${sha256(bytes(x))}  binary64 ${x.length}  -\n`);
    expect((await halfulp(["hash", "-", "--format", "raw32"], [bytes(x)])).out).toMatch(`${sha256(bytes(x))}  binary32 ${2 * x.length}  -`);
    expect((await halfulp(["hash", put("x.dat", bytes(x)), "--format", "raw"])).out).toMatch(sha256(bytes(x)));
    expect(await halfulp(["hash", "-", "--format", "doc"])).toMatchObject({ code: 2, err: expect.stringMatching(/--format is "doc"/) });
  });
  test("what it does not read", async () => {
    expect(await halfulp(["hash", put("t.parquet", "1\n")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"[^"]*t.parquet" has an unknown format, expected a name ending in .npy, .npz, .f64/),
    });
    expect((await halfulp(["hash", "-", "-"])).err).toMatch(/standard input is given twice/);
    expect(await halfulp(["hash"])).toMatchObject({ code: 2, err: expect.stringMatching(/0 operands, expected 1 or more/) });
  });
});
