// CXSparse through koffi, the peer of sparse solves and products: under its name in Debian 12 or in Debian 13.
import { readFileSync } from "node:fs";

const NAMES = ["libcxsparse.so.3", "libcxsparse.so.4"];

/**
 * { lower, product, config, note }, where lower(L) copies a lower triangle, stored by columns with ascending indices, into the library's
 * own memory and returns how to solve with it, and product(A) the same for products with a matrix stored by columns; or { missing } with
 * the reason.
 */
export async function openCxSparse() {
  try {
    const { default: koffi } = await import("koffi");
    const library = loadOne(koffi);
    const matrix = koffi.struct("cs_di", { nzmax: "int", m: "int", n: "int", p: "void *", i: "void *", x: "void *", nz: "int" });
    const allocate = library.func("cs_di *cs_di_spalloc(int m, int n, int nzmax, int values, int triplet)");
    const release = library.func("cs_di *cs_di_spfree(cs_di *A)");
    const lsolve = library.func("int cs_di_lsolve(const cs_di *L, double *x)");
    const gaxpy = library.func("int cs_di_gaxpy(const cs_di *A, const double *x, double *y)");
    const copyOf = ({ rows, cols, pointers, indices, values }) => {
      const A = allocate(rows, cols, values.length, 1, 0);
      if (A === null) throw new Error(`CXSparse: no memory for ${values.length} entries`);
      const { p, i, x } = koffi.decode(A, matrix);
      new Int32Array(koffi.view(p, pointers.byteLength)).set(pointers);
      new Int32Array(koffi.view(i, indices.byteLength)).set(indices);
      new Float64Array(koffi.view(x, values.byteLength)).set(values);
      return A;
    };
    return {
      config: "CXSparse",
      note: readFileSync("/proc/self/maps", "utf8").match(/libcxsparse.*/)[0],
      lower(triangle) {
        const L = copyOf(triangle);
        return {
          // It solves in place.
          solve(b, out) {
            out.set(b);
            lsolve(L, out);
            return out;
          },
          free: () => release(L),
        };
      },
      product(byColumns) {
        const A = copyOf(byColumns);
        return {
          /** y := A x + y */
          add: (x, y) => gaxpy(A, x, y),
          free: () => release(A),
        };
      },
    };
  } catch (error) {
    return { missing: `CXSparse is not measured: ${error.message.split("\n")[0]} (npm install koffi; npm run setup)` };
  }
}

function loadOne(koffi) {
  try {
    return koffi.load(NAMES[0]);
  } catch {
    return koffi.load(NAMES[1]);
  }
}
