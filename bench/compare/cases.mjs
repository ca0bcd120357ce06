// The cases of compare.mjs, by group, in the public API alone: two builds may differ in everything else. Data come from the generator
// below or from the builds' own problem generators, whose results are part of their contract.

// Sizes on a CPU, on an OpenCL device, and with --large on a real GPU.
const CPU = { vector: 1_000_000, matrix: 2048, product: 384, lu: 512, solve: [300, 600], grid: 48 };
const DEVICE = { vector: 2 ** 20, matrix: 1024, lu: 256, solve: 512, grid: 24 };
const LARGE = { vector: 2 ** 26, matrix: 4096, lu: 2048, solve: 4096, grid: 128 };

const VECTOR_LENGTHS = [10, 1000, CPU.vector];
const THREADS = 2;

/**
 * The cases of a group, as functions by name. Each sets up a case of `library`, on `engine` where its group opens one, and returns
 * { run, result, free }: `run` is timed; `result` makes the numbers that both builds should return to the bit (default: the
 * result of run).
 */
export const GROUPS = {
  level1: { cases: level1 },
  dense: { cases: dense },
  sparse: { cases: sparse },
  solve: { cases: solve },
  threads: {
    open: (library) => library.open("threads", { threads: THREADS }),
    cases: threads,
  },
  opencl: {
    open: (library, { device }) => library.open("opencl", { ...(device !== undefined && { device }) }),
    cases: ({ large }) => onDevice(large ? LARGE : DEVICE),
  },
};

// Numbers in (-1, 1) from a 32-bit xorshift. No part repeats: a matrix with equal rows would be singular.
function uniform(n, seed) {
  const numbers = new Float64Array(n);
  let state = 0x9e3779b9 ^ (seed * 0x85ebca6b);
  for (let i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    numbers[i] = state / 2 ** 31;
  }
  return numbers;
}

// The sums of off-diagonal entries stay below the diagonal.
function dominant(n) {
  const T = uniform(n * n, 3).map((v) => v / n);
  for (let k = 0; k < n; k++) T[k * n + k] += 2;
  return T;
}

function level1() {
  const cases = {};
  for (const n of VECTOR_LENGTHS)
    for (const memory of ["ordinary", "allocated"]) {
      const add = (routine, setUp) => {
        cases[`${routine}, n = ${n}, ${memory}`] = (library) => {
          const { place, free } = memoryOf(library, memory);
          return { ...setUp(library, place), free };
        };
      };
      add("exsum", ({ exsum }, place) => {
        const x = place(uniform(n, 1));
        return { run: () => exsum(x) };
      });
      add("exdot", ({ exdot }, place) => {
        const [x, y] = [place(uniform(n, 1)), place(uniform(n, 2))];
        return { run: () => exdot(x, y) };
      });
      add("exnrm2", ({ exnrm2 }, place) => {
        const x = place(uniform(n, 1));
        return { run: () => exnrm2(x) };
      });
      add("exaxpy", ({ exaxpy }, place) => {
        const [x, y] = [place(uniform(n, 1)), place(uniform(n, 2))];
        return { run: () => exaxpy(1e-9, x, y), result: () => exaxpy(0.3, x, place(uniform(n, 4))) };
      });
      if (n > 1000)
        add("exdot, condition 1e30", ({ exdot, illConditionedDot }, place) => {
          const { x, y } = illConditionedDot(n, 1e30, 3);
          const [a, b] = [place(x), place(y)];
          return { run: () => exdot(a, b) };
        });
    }
  return cases;
}

function memoryOf({ allocate, free }, memory) {
  const taken = [];
  const place = (values) => {
    if (memory === "ordinary") return values;
    const copy = allocate(values.length);
    copy.set(values);
    taken.push(copy);
    return copy;
  };
  return { place, free: () => taken.forEach((array) => void free(array)) };
}

function dense() {
  const cases = {};
  const gemv = (n, memory) => (library) => {
    const { place, free } = memoryOf(library, memory);
    const [A, x, y] = [library.matrix(place(uniform(n * n, 1)), n, n), place(uniform(n, 2)), place(new Float64Array(n))];
    return { run: () => library.exgemv(1, A, x, 0, y), free };
  };
  const trsv = (n) => (library) => {
    const [T, b] = [library.matrix(dominant(n), n, n), uniform(n, 2)];
    return { run: () => library.extrsv(T, b) };
  };
  const gemm = (n) => (library) => {
    const [A, B, C] = [uniform(n * n, 1), uniform(n * n, 2), new Float64Array(n * n)].map((data) => library.matrix(data, n, n));
    return { run: () => library.exgemm(1, A, B, 0, C).data };
  };
  const lu = (n) => (library) => {
    const A = library.matrix(uniform(n * n, 1), n, n);
    return { run: () => library.exlu(A).lu.data };
  };
  for (const memory of ["ordinary", "allocated"]) cases[`exgemv, n = ${CPU.matrix}, ${memory}`] = gemv(CPU.matrix, memory);
  cases[`extrsv, n = ${CPU.matrix}`] = trsv(CPU.matrix);
  cases[`exgemm, n = ${CPU.product}`] = gemm(CPU.product);
  cases[`exlu, n = ${CPU.lu}`] = lu(CPU.lu);
  for (const [routine, make] of Object.entries({ exgemv: (n) => gemv(n, "ordinary"), extrsv: trsv, exgemm: gemm, exlu: lu }))
    cases[`${routine}, n = 4`] = make(4);
  return cases;
}

// With a plan that is made and freed, and with one that is kept.
function planCases(grid) {
  const cases = {};
  for (const [mode, exact] of [
    ["exact", true],
    ["exact: false", false],
  ]) {
    const title = `sptrsv, ${mode}, ${grid}^3 grid`;
    cases[`${title}, plan`] = async (library, engine = library) => {
      const A = library.laplacian(grid, grid, grid);
      const run = () => engine.sptrsv(A, { exact }).free();
      const runAwaited = async () => (await engine.sptrsv(A, { exact })).free();
      return { run: engine === library ? run : runAwaited, result: () => 0 };
    };
    cases[`${title}, solve`] = async (library, engine = library) => {
      const A = library.laplacian(grid, grid, grid);
      const [b, x] = [uniform(A.rows, 2), new Float64Array(A.rows)];
      const plan = await engine.sptrsv(A, { exact });
      return { run: () => plan.solve(b, x), free: () => plan.free() };
    };
  }
  return cases;
}

function sparse() {
  const ilu0 = (library) => {
    const A = library.laplacian(CPU.grid, CPU.grid, CPU.grid);
    return { run: () => library.ilu0(A).values };
  };
  return { ...planCases(CPU.grid), [`ilu0, ${CPU.grid}^3 grid`]: ilu0 };
}

function solve() {
  const cases = {};
  for (const rounding of ["correct", "backward"])
    for (const n of CPU.solve) {
      const system = ({ matrix }) => [matrix(uniform(n * n, 1), n, n), uniform(n, 2)];
      cases[`solve, ${rounding}, n = ${n}`] = (library) => {
        const [A, b] = system(library);
        return { run: () => library.solve(A, b, { rounding }).x };
      };
      cases[`factor(A).solve, ${rounding}, n = ${n}`] = (library) => {
        const [A, b] = system(library);
        const factors = library.factor(A, { rounding });
        return { run: () => factors.solve(b).x, free: () => factors.free() };
      };
    }
  return cases;
}

function threads() {
  const { vector, matrix: n, lu, grid } = CPU;
  const cases = {};
  for (const where of ["ordinary", "resident"]) {
    const place = async (engine, value) => (where === "resident" ? engine.upload(value) : value);
    cases[`exdot, n = ${vector}, ${where}, ${THREADS} threads`] = async (_, engine) => {
      const [x, y] = [await place(engine, uniform(vector, 1)), await place(engine, uniform(vector, 2))];
      return { run: () => engine.exdot(x, y), free: () => freeAll(x, y) };
    };
    cases[`exgemv, n = ${n}, ${where}, ${THREADS} threads`] = async ({ matrix }, engine) => {
      const [A, x] = [await place(engine, matrix(uniform(n * n, 1), n, n)), await place(engine, uniform(n, 2))];
      const y = new Float64Array(n);
      return { run: () => engine.exgemv(1, A, x, 0, y), free: () => freeAll(A, x) };
    };
  }
  cases[`exlu, n = ${lu}, ${THREADS} threads`] = (library, engine) => {
    const A = library.matrix(uniform(lu * lu, 1), lu, lu);
    return { run: async () => (await engine.exlu(A)).lu.data };
  };
  for (const [name, setUp] of Object.entries(planCases(grid))) cases[`${name}, ${THREADS} threads`] = setUp;
  return cases;
}

// Everything resident, as on a GPU.
function onDevice({ vector, matrix: n, lu, solve: order, grid }) {
  const cases = {};
  cases[`exsum, n = ${vector}, opencl`] = async (_, engine) => {
    const x = await engine.upload(uniform(vector, 1));
    return { run: () => engine.exsum(x), free: () => freeAll(x) };
  };
  cases[`exdot, n = ${vector}, opencl`] = async (_, engine) => {
    const [x, y] = [await engine.upload(uniform(vector, 1)), await engine.upload(uniform(vector, 2))];
    return { run: () => engine.exdot(x, y), free: () => freeAll(x, y) };
  };
  cases["exdot, n = 1000, opencl"] = async (_, engine) => {
    const [x, y] = [await engine.upload(uniform(1000, 1)), await engine.upload(uniform(1000, 2))];
    return { run: () => engine.exdot(x, y), free: () => freeAll(x, y) };
  };
  cases[`exgemv, n = ${n}, opencl`] = async ({ matrix }, engine) => {
    const [A, x] = [await engine.upload(matrix(uniform(n * n, 1), n, n)), await engine.upload(uniform(n, 2))];
    const y = new Float64Array(n);
    return { run: () => engine.exgemv(1, A, x, 0, y), free: () => freeAll(A, x) };
  };
  cases[`extrsv, n = ${n}, opencl`] = async ({ matrix }, engine) => {
    const [T, b] = [await engine.upload(matrix(dominant(n), n, n)), await engine.upload(uniform(n, 2))];
    return { run: () => engine.extrsv(T, b), free: () => freeAll(T, b) };
  };
  cases[`exlu, n = ${lu}, opencl`] = async ({ matrix }, engine) => {
    const A = await engine.upload(matrix(uniform(lu * lu, 1), lu, lu));
    return { run: async () => (await engine.exlu(A)).lu.data, free: () => freeAll(A) };
  };
  for (const rounding of ["correct", "backward"])
    cases[`solve, ${rounding}, n = ${order}, opencl`] = async ({ matrix }, engine) => {
      const A = await engine.upload(matrix(uniform(order * order, 1), order, order));
      const b = uniform(order, 2);
      return { run: async () => (await engine.solve(A, b, { rounding })).x, free: () => freeAll(A) };
    };
  for (const [name, setUp] of Object.entries(planCases(grid))) cases[`${name}, opencl`] = setUp;
  return cases;
}

function freeAll(...values) {
  for (const value of values) value.free?.();
}
