// csr, csc, toCsr and toCsc: the views they make, the patterns and arguments they refuse, and conversions.
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { checkSparse } from "../../src/arrays/sparse.ts";
import { csc, csr, PatternError, type Real, ShapeError, type Sparse, toCsc, toCsr } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { permutation } from "../generators.ts";
import { storedBits } from "../hex.ts";
import { pick } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";

const bad = (value: unknown): never => value as never;
const ints = (...list: number[]): Int32Array => Int32Array.from(list);
const doubles = (...list: number[]): Float64Array => Float64Array.from(list);

/** Entry by entry, in order: "row,column:bits". */
function entries(A: Sparse<Real>): string[] {
  const bits = storedBits(A.values);
  const list = range(A.pointers.length - 1).flatMap((line) =>
    range((A.pointers[line + 1] as number) - (A.pointers[line] as number)).map((k) => {
      const p = (A.pointers[line] as number) + k;
      const at = A.format === "csr" ? [line, A.indices[p]] : [A.indices[p], line];
      return `${at}:${bits[p]}`;
    }),
  );
  return list.sort();
}

function random(source: Random, by: "csr" | "csc", single: boolean): Sparse<Real> {
  const [rows, cols] = [source.below(9), source.below(9)];
  const [lines, length] = by === "csr" ? [rows, cols] : [cols, rows];
  const density = pick(source, [0, 0.2, 0.5, 1]);
  const list = range(lines).map(() => Array.from(permutation(source, length)).filter(() => source.below(100) < density * 100));
  const pointers = ints(0, ...list.map((_, i) => list.slice(0, i + 1).flat().length));
  const indices = Int32Array.from(list.flat());
  const type = single ? Float32Array : Float64Array;
  const values = new type(Array.from(indices, () => pick(source, [source.signed(), -0, 5e-324, Number.NaN, Number.NEGATIVE_INFINITY])));
  return by === "csr" ? csr(rows, cols, pointers, indices, values) : csc(rows, cols, pointers, indices, values);
}

describe("csr and csc", () => {
  test("view the caller's arrays, which are not copied, and are frozen", () => {
    const [pointers, indices, values] = [ints(0, 2, 3), ints(0, 2, 1), doubles(1, 2, 3)];
    const A = csr(2, 3, pointers, indices, values);
    expect(A).toEqual({ format: "csr", rows: 2, cols: 3, pointers, indices, values });
    expect([A.pointers === pointers, A.indices === indices, A.values === values]).toEqual([true, true, true]);
    expect(() => Object.assign(A, { rows: 3 })).toThrow(TypeError);
    const B = csc(3, 2, pointers, indices, Float32Array.from(values));
    expect([B.format, B.rows, B.cols, B.values]).toEqual(["csc", 3, 2, Float32Array.of(1, 2, 3)]);
  });

  test("take lines in any order, empty lines, and matrices without entries, rows or columns", () => {
    csr(2, 4, ints(0, 4, 4), ints(3, 0, 2, 1), doubles(1, 2, 3, 4));
    csr(3, 2, ints(0, 0, 0, 0), ints(), doubles());
    csr(0, 0, ints(0), ints(), doubles());
    csr(0, 5, ints(0), ints(), new Float32Array(0));
    csr(2, 0, ints(0, 0, 0), ints(), doubles());
    csc(0, 2, ints(0, 0, 0), ints(), doubles());
    csc(5, 0, ints(0), ints(), new Float32Array(0));
  });

  test("take values that are not finite: patterns are checked, numbers are not", () => {
    const values = doubles(Number.NaN, Number.POSITIVE_INFINITY);
    expect(csr(1, 2, ints(0, 2), ints(0, 1), values).values).toBe(values);
  });

  test("take one index in two lines, and in two lines that do not ascend", () => {
    csr(3, 3, ints(0, 2, 4, 6), ints(2, 0, 2, 0, 2, 0), doubles(1, 2, 3, 4, 5, 6));
    csc(3, 3, ints(0, 2, 4, 6), ints(0, 2, 2, 0, 0, 2), doubles(1, 2, 3, 4, 5, 6));
  });

  test("take arrays of another realm and of shared memory", () => {
    const other = runInNewContext("[Int32Array.of(0, 1), Int32Array.of(0), Float32Array.of(3)]");
    expect(toCsc(csr(1, 1, other[0], other[1], other[2])).values).toEqual(Float32Array.of(3));
    const shared = new Float64Array(new SharedArrayBuffer(8)).fill(2) as unknown as Float64Array;
    expect(toCsc(csr(1, 1, ints(0, 1), ints(0), shared)).values).toEqual(doubles(2));
  });
});

const one = doubles(1);
const two = doubles(1, 2);

describe("a pattern that is none is refused with the first place", () => {
  test.each<[string, () => unknown, string]>([
    ["too few pointers", () => csr(2, 2, ints(0, 1), ints(0), one), "csr: pointers has length 2, expected 3 (one for each row and an end)"],
    [
      "too many pointers",
      () => csc(5, 0, ints(0, 0), ints(), doubles()),
      "csc: pointers has length 2, expected 1 (one for each column and an end)",
    ],
    ["no pointers", () => csr(0, 0, ints(), ints(), doubles()), "csr: pointers has length 0, expected 1 (one for each row and an end)"],
    ["a start that is not 0", () => csr(1, 2, ints(1, 2), ints(0, 1), two), "csr: pointers[0] is 1, expected 0"],
    ["a start below 0", () => csr(1, 2, ints(-1, 2), ints(0, 1), two), "csr: pointers[0] is -1, expected 0"],
    [
      "pointers that decrease",
      () => csr(3, 2, ints(0, 2, 1, 2), ints(0, 1), two),
      "csr: pointers[2] is 1, expected at least 2, the one before it",
    ],
    ["a negative end", () => csc(2, 1, ints(0, -1), ints(), doubles()), "csc: pointers[1] is -1, expected at least 0, the one before it"],
    ["too few indices", () => csr(1, 3, ints(0, 2), ints(0), two), "csr: indices has length 1, expected 2 (pointers[1])"],
    ["too many indices", () => csr(1, 3, ints(0, 2), ints(0, 1, 2), two), "csr: indices has length 3, expected 2 (pointers[1])"],
    ["too few values", () => csc(3, 1, ints(0, 2), ints(0, 1), one), "csc: values has length 1, expected 2 (pointers[1])"],
    ["too many values", () => csc(3, 1, ints(0, 1), ints(0), two), "csc: values has length 2, expected 1 (pointers[1])"],
    [
      "an index past the columns",
      () => csr(1, 2, ints(0, 2), ints(0, 2), two),
      "csr: indices[1] is 2, expected at least 0 and below 2 (in row 0)",
    ],
    [
      "an index past the rows",
      () => csc(2, 9, ints(0, 1, ...new Array(8).fill(1)), ints(2), one),
      "csc: indices[0] is 2, expected at least 0 and below 2 (in column 0)",
    ],
    [
      "a negative index",
      () => csr(2, 2, ints(0, 0, 2), ints(1, -1), two),
      "csr: indices[1] is -1, expected at least 0 and below 2 (in row 1)",
    ],
    ["a negative index at the start of a line", () => csr(1, 2, ints(0, 1), ints(-5), one), "csr: indices[0] is -5, expected at least 0"],
    [
      "an index where there are no columns",
      () => csr(1, 0, ints(0, 1), ints(0), one),
      "csr: indices[0] is 0, expected at least 0 and below 0 (in row 0)",
    ],
    ["duplicates side by side", () => csr(1, 2, ints(0, 2), ints(1, 1), two), "csr: indices[1] is 1, which row 0 has already at 0"],
    [
      "duplicates far apart",
      () => csr(2, 9, ints(0, 1, 7), ints(5, 5, 1, 2, 8, 3, 5), new Float32Array(7)),
      "csr: indices[6] is 5, which row 1 has already at 1",
    ],
    [
      "duplicates after a line that does not ascend",
      () => csc(4, 2, ints(0, 3, 6), ints(3, 1, 2, 2, 3, 2), new Float64Array(6)),
      "csc: indices[5] is 2, which column 1 has already at 3",
    ],
    [
      "the first of several",
      () => csr(2, 3, ints(0, 3, 6), ints(2, 0, 2, 7, -1, 0), new Float64Array(6)),
      "csr: indices[2] is 2, which row 0 has already at 0",
    ],
    [
      "in an object made by hand",
      () => toCsr(bad({ format: "csc", rows: 2, cols: 1, pointers: ints(0, 2), indices: ints(1, 1), values: two })),
      "toCsr: A.indices[1] is 1, which column 0 has already at 0",
    ],
    [
      "in an object made from a good one",
      () => toCsc({ ...csr(1, 2, ints(0, 2), ints(0, 1), two), cols: 1 }),
      "toCsc: A.indices[1] is 1, expected at least 0 and below 1 (in row 0)",
    ],
    [
      "lengths in an object made by hand",
      () => toCsc({ ...csr(1, 2, ints(0, 2), ints(0, 1), two), values: one }),
      "toCsc: A.values has length 1, expected 2 (A.pointers[1])",
    ],
  ])("%s", (_, call, message) => {
    expect(call).toThrow(PatternError);
    expect(call).toThrow(message);
  });
});

describe("what is no matrix is refused by name", () => {
  test.each<[string, () => unknown, string]>([
    ["half a row", () => csr(1.5, 2, ints(0, 1), ints(0), one), "csr: rows is 1.5, expected a whole number of at least 0"],
    ["fewer columns than none", () => csc(1, -2, ints(0), ints(), one), "csc: cols is -2, expected a whole number of at least 0"],
    ["rows as text", () => csr(bad("1"), 2, ints(0, 1), ints(0), one), 'csr: rows is "1", expected a whole number of at least 0'],
    [
      "more rows than 32 bits count",
      () => csr(2 ** 31, 2, ints(0, 1), ints(0), one),
      "csr: rows is 2147483648, expected at most 2147483647 (indices have 32 bits)",
    ],
    [
      "more columns than 32 bits count",
      () => csr(1, 2 ** 40, ints(0, 1), ints(0), one),
      "csr: cols is 1099511627776, expected at most 2147483647",
    ],
    ["pointers in a plain array", () => csr(1, 2, bad([0, 1]), ints(0), one), "csr: pointers is a plain array, expected an Int32Array"],
    [
      "unsigned pointers",
      () => csr(1, 2, bad(Uint32Array.of(0, 1)), ints(0), one),
      "csr: pointers is an object of type Uint32Array, expected an Int32Array",
    ],
    [
      "indices as doubles",
      () => csc(1, 1, ints(0, 1), bad(doubles(0)), one),
      "csc: indices is an object of type Float64Array, expected an Int32Array",
    ],
    ["no indices", () => csc(1, 1, ints(0, 1), bad(undefined), one), "csc: indices is undefined, expected an Int32Array"],
    [
      "values as integers",
      () => csr(1, 1, ints(0, 1), ints(0), bad(ints(1))),
      "csr: values is an object of type Int32Array, expected a Float64Array or a Float32Array",
    ],
    [
      "values in a plain array",
      () => csr(1, 1, ints(0, 1), ints(0), bad([1])),
      "csr: values is a plain array, expected a Float64Array or a Float32Array",
    ],
    ["no matrix", () => toCsr(bad(undefined)), "toCsr: A is undefined, expected a sparse matrix (see csr() and csc())"],
    ["null", () => toCsc(bad(null)), "toCsc: A is null, expected a sparse matrix (see csr() and csc())"],
    ["a vector", () => toCsr(bad(one)), "toCsr: A is an object of type Float64Array, expected a sparse matrix (see csr() and csc())"],
    ["a plain array", () => toCsr(bad([1])), "toCsr: A is a plain array, expected a sparse matrix (see csr() and csc())"],
    [
      "a format there is not",
      () => toCsc({ ...csr(1, 1, ints(0, 1), ints(0), one), format: bad("coo") }),
      'toCsc: A.format is "coo", expected "csr" or "csc" (see csr() and csc())',
    ],
    [
      "a dense matrix",
      () => toCsc(bad({ data: one, rows: 1, cols: 1, order: "row", ld: 1, offset: 0 })),
      'toCsc: A.format is undefined, expected "csr" or "csc"',
    ],
    [
      "a part that is missing",
      () => toCsc({ ...csr(1, 1, ints(0, 1), ints(0), one), values: bad(undefined) }),
      "toCsc: A.values is undefined, expected a Float64Array or a Float32Array",
    ],
  ])("%s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });
});

describe("toCsr and toCsc", () => {
  test("by hand, lines come out ascending", () => {
    // 1 . 2
    // 3 4 .
    const A = csr(2, 3, ints(0, 2, 4), ints(2, 0, 1, 0), doubles(2, 1, 4, 3));
    const B = toCsc(A);
    expect(B).toEqual({
      format: "csc",
      rows: 2,
      cols: 3,
      pointers: ints(0, 2, 3, 4),
      indices: ints(0, 1, 1, 0),
      values: doubles(1, 3, 4, 2),
    });
    expect(toCsr(B)).toEqual({ ...A, indices: ints(0, 2, 0, 1), values: doubles(1, 2, 3, 4) });
  });

  test("of a matrix that is in that format already is that matrix", () => {
    const A = csr(1, 2, ints(0, 2), ints(1, 0), two);
    expect(toCsr(A)).toBe(A);
    const B = toCsc(A);
    expect(toCsc(B)).toBe(B);
    const byHand = { ...A };
    expect(toCsr(byHand)).toBe(byHand);
  });

  test("keep every entry to the bit, twice over, in both precisions", () => {
    const source = new Random(1);
    for (let k = 0; k < 400; k++) {
      const A = random(source, k % 2 ? "csr" : "csc", k % 3 === 0);
      const before = entries(A);
      const [turn, back] = A.format === "csr" ? [toCsc, toCsr] : [toCsr, toCsc];
      const B = turn(A);
      const C = back(B);
      for (const M of [B, C]) {
        expect(entries(M)).toEqual(before);
        expect([M.rows, M.cols, M.values.constructor]).toEqual([A.rows, A.cols, A.values.constructor]);
        for (let line = 0; line < M.pointers.length - 1; line++) {
          const indices = M.indices.slice(M.pointers[line], M.pointers[line + 1]);
          expect(indices).toEqual(indices.slice().sort());
        }
      }
      expect(B.format).not.toBe(A.format);
      expect(C.format).toBe(A.format);
      // what was in order already is as it was
      expect(back(turn(C))).toEqual(C);
      expect(entries(A)).toEqual(before);
    }
  });

  test("return matrices of their own, which need no second check", () => {
    const A = csr(2, 2, ints(0, 1, 2), ints(1, 0), two);
    const B = toCsc(A);
    expect(B.values).not.toBe(A.values);
    expect(Object.isFrozen(B)).toBe(true);
    // the indices are not looked at again: whoever writes into them afterwards is not told
    B.indices[0] = 7;
    expect(checkSparse("any", "B", B)).toBe("binary64");
  });

  test("make patterns of empty matrices", () => {
    expect(toCsc(csr(0, 3, ints(0), ints(), doubles()))).toEqual({
      format: "csc",
      rows: 0,
      cols: 3,
      pointers: ints(0, 0, 0, 0),
      indices: ints(),
      values: doubles(),
    });
    expect(toCsr(csc(0, 0, ints(0), ints(), new Float32Array(0))).pointers).toEqual(ints(0));
    expect(toCsr(csc(2, 0, ints(0), ints(), new Float32Array(0))).values).toEqual(new Float32Array(0));
  });
});

describe("checkSparse", () => {
  test("says the precision, of a matrix by hand every time it has checked it", () => {
    const A = csr(1, 1, ints(0, 1), ints(0), Float32Array.of(1));
    expect(checkSparse("any", "A", A)).toBe("binary32");
    const byHand = { format: "csc", rows: 1, cols: 1, pointers: ints(0, 1), indices: ints(0), values: one } as const;
    expect(checkSparse("any", "A", byHand)).toBe("binary64");
    byHand.indices[0] = 1;
    expect(() => checkSparse("any", "A", byHand)).toThrow("any: A.indices[0] is 1, expected at least 0 and below 1 (in column 0)");
  });
});
