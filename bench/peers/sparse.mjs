// The npm peer of sparse solves, math.js: JavaScript, generic number types, vectors as matrices of one column.
import { lsolve, SparseMatrix } from "mathjs";

export const PACKAGES = ["mathjs", "koffi", "assemblyscript"];

export const mathJs = {
  name: "math.js lsolve",
  /** How to solve with a lower triangle stored by columns. */
  lower({ rows, cols, pointers, indices, values }) {
    const L = new SparseMatrix({ values: [...values], index: [...indices], ptr: [...pointers], size: [rows, cols] });
    return { take: (b) => [...b], solve: (b) => lsolve(L, b), read: (x) => Float64Array.from(x.valueOf(), ([v]) => v), free() {} };
  },
};
