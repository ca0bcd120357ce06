// What is wrong with a sparse product is named, before anything is written; on an asynchronous engine by a promise that rejects.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { csc, csr, type Engine, exspmv, open, toCsc } from "../../src/index.ts";
import { AVAILABLE_KINDS } from "../engines.ts";
import { storedBits } from "../hex.ts";

const ints = (...list: number[]): Int32Array => Int32Array.from(list);
// [2 . 1; . 3 .]
const A = csr(2, 3, ints(0, 2, 3), ints(0, 2, 1), Float64Array.of(2, 1, 3));
const single = csr(2, 3, ints(0, 2, 3), ints(0, 2, 1), Float32Array.of(2, 1, 3));
const [two, three] = [Float64Array.of(1, 2), Float64Array.of(1, 2, 3)];
const long = new Float64Array(8);

const KINDS = ["synchronous", ...AVAILABLE_KINDS] as const;

describe.each(KINDS)("%s", (kind) => {
  let engine: Engine | undefined;
  let multiply: (...args: unknown[]) => unknown;
  beforeAll(async () => {
    engine = kind === "synchronous" ? undefined : await open(kind, kind === "threads" ? { threads: 2 } : {});
    multiply = (engine?.exspmv ?? exspmv) as unknown as typeof multiply;
  });
  afterAll(() => engine?.close());

  async function refusal(args: readonly unknown[]): Promise<Error> {
    let answer: unknown;
    try {
      answer = multiply(...args);
    } catch (error) {
      if (kind !== "synchronous") expect.fail(`threw ${error}`);
      return error as Error;
    }
    return (answer as Promise<unknown>).then(
      () => expect.fail("not refused"),
      (error: Error) => error,
    );
  }

  const backwards = ints(0, 2, 1);
  const CALLS: [string, unknown[], string, string][] = [
    ["nothing", [], "ShapeError", "exspmv: alpha is undefined, expected a number"],
    ["alpha as text", ["1", A, three, 0, two], "ShapeError", 'exspmv: alpha is "1", expected a number'],
    ["a BigInt for beta", [1, A, three, 0n, two], "ShapeError", "exspmv: beta is"],
    ["null for A", [1, null, three, 0, two], "ShapeError", "exspmv: A is null, expected a sparse matrix"],
    ["a vector for A", [1, two, three, 0, two], "ShapeError", "exspmv: A is an object of type Float64Array, expected a sparse matrix"],
    ["another format", [1, { ...A, format: "coo" }, three, 0, two], "ShapeError", 'exspmv: A.format is "coo", expected "csr" or "csc"'],
    ["pointers that decrease", [1, { ...A, pointers: backwards }, three, 0, two], "PatternError", "exspmv: A.pointers[2] is 1"],
    ["an index twice", [1, { ...A, indices: ints(2, 2, 1) }, three, 0, two], "PatternError", "exspmv: A.indices[1] is 2, which row 0 has"],
    ["an index out of range", [1, { ...A, indices: ints(0, 3, 1) }, three, 0, two], "PatternError", "exspmv: A.indices[1] is 3, expected"],
    ["a value too few", [1, { ...A, values: two }, three, 0, two], "PatternError", "exspmv: A.values has length 2, expected 3"],
    ["x of numbers", [1, A, [1, 2, 3], 0, two], "ShapeError", "exspmv: x is a plain array"],
    ["x too short", [1, A, two, 0, two], "ShapeError", "exspmv: x has length 2, expected 3 (the columns of A)"],
    ["y too long", [1, A, three, 0, three], "ShapeError", "exspmv: y has length 3, expected 2 (the rows of A)"],
    ["x for the plain matrix", [1, A, three, 0, two, { trans: true }], "ShapeError", "exspmv: x has length 3, expected 2 (the rows of A)"],
    ["y for the plain one", [1, A, two, 0, two, { trans: true }], "ShapeError", "exspmv: y has length 2, expected 3 (the columns of A)"],
    ["x of binary32", [1, A, new Float32Array(3), 0, two], "ShapeError", "exspmv: x is binary32, expected binary64 (the precision of A)"],
    ["y of binary32", [1, A, three, 0, new Float32Array(2)], "ShapeError", "exspmv: y is binary32, expected binary64 (the precision of A)"],
    ["A of binary32", [1, single, three, 0, two], "ShapeError", "exspmv: x is binary64, expected binary32 (the precision of A)"],
    ["an unknown option", [1, A, three, 0, two, { transA: true }], "ShapeError", 'exspmv: there is no option "transA", expected trans'],
    ["trans as text", [1, A, three, 0, two, { trans: "T" }], "ShapeError", 'exspmv: trans is "T", expected true or false'],
    ["null options", [1, A, three, 0, two, null], "ShapeError", "exspmv: options is null, expected an object"],
    ["y that overlaps x", [1, A, long.subarray(0, 3), 0, long.subarray(2, 4)], "ShapeError", "exspmv: y shares entries with x"],
    [
      "y among the values",
      [1, { ...A, values: long.subarray(0, 3) }, three, 0, long.subarray(1, 3)],
      "ShapeError",
      "exspmv: y shares entries with A",
    ],
  ];
  test.each(CALLS)("%s is refused", async (_, args, name, message) => {
    const error = await refusal(args);
    expect(error.name, error.message).toBe(name);
    expect(error.message).toContain(message);
    expect([storedBits(two), storedBits(three), storedBits(long)]).toEqual(
      [Float64Array.of(1, 2), Float64Array.of(1, 2, 3), new Float64Array(8)].map(storedBits),
    );
  });

  test("y that lies on the indices is refused", async () => {
    const buffer = new ArrayBuffer(32);
    const pattern = new Int32Array(buffer, 0, 3);
    pattern.set(A.indices);
    const error = await refusal([1, { ...A, indices: pattern }, three, 0, new Float64Array(buffer, 8, 2)]);
    expect(error.message).toContain("exspmv: y shares entries with A");
    expect(Array.from(pattern)).toEqual(Array.from(A.indices));
  });

  test("views that lie side by side do", async () => {
    const both = Float64Array.of(1, 2, 3, 7, 7);
    await multiply(1, toCsc(A), both.subarray(0, 3), 0, both.subarray(3), { trans: undefined });
    expect(Array.from(both)).toEqual([1, 2, 3, 5, 6]);
    const empty = csc(0, 0, ints(0), ints(), new Float64Array(0));
    expect(await multiply(1, empty, new Float64Array(0), 1, new Float64Array(0))).toEqual(new Float64Array(0));
  });
});
