// Arb's certified solver through koffi, the peer of correct.mjs: arb_mat_solve encloses every component of the solution, at a chosen
// precision.

const PRECISION = 96; // bits
const MATRIX = 32; // bytes of an arb_mat_struct: entries, rows, columns, pointers to rows
const ENTRY = 48; // bytes of an arb_struct
const LIBRARIES = ["libflint-arb.so.2", "libarb.so.2", "libflint.so.20", "libflint.so.18"]; // Debian 12; others; FLINT 3 includes Arb

/** A rival { name, system, run, free } as in solve.mjs of this folder, or { missing } with the reason. */
export async function openArb() {
  try {
    const { default: koffi } = await import("koffi");
    const library = load(koffi);
    const init = library.func("void arb_mat_init(uint8_t *mat, int64_t r, int64_t c)");
    const clear = library.func("void arb_mat_clear(uint8_t *mat)");
    const solve = library.func("int arb_mat_solve(uint8_t *X, uint8_t *A, uint8_t *B, int64_t prec)");
    const set = library.func("void arb_set_d(void *x, double c)");
    const matrixOf = (rows, cols, data) => {
      const mat = new Uint8Array(MATRIX);
      init(mat, rows, cols);
      const entries = new DataView(mat.buffer).getBigUint64(0, true);
      for (const [k, v] of data?.entries() ?? []) set(entries + BigInt(k * ENTRY), v);
      return mat;
    };
    return {
      name: `Arb arb_mat_solve, ${PRECISION} bits`,
      system: ({ n, A, b }) => ({ A: matrixOf(n, n, A), b: matrixOf(n, 1, b), x: matrixOf(n, 1) }),
      run({ A, b, x }) {
        if (solve(x, A, b, PRECISION) === 0) throw new Error("arb_mat_solve could not enclose the solution");
        return x;
      },
      free({ A, b, x }) {
        for (const mat of [A, b, x]) clear(mat);
      },
    };
  } catch (error) {
    return { missing: `Arb is not measured: ${error.message.split("\n")[0]} (npm install koffi; apt-get install libflint-arb2)` };
  }
}

function load(koffi) {
  for (const name of LIBRARIES) {
    try {
      return koffi.load(name);
    } catch {}
  }
  throw new Error(`none of ${LIBRARIES.join(", ")} can be loaded`);
}
