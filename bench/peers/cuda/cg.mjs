// Conjugate gradients of cuBLAS and cuSPARSE calls, for gpu.mjs: the loop of peers/cg.mjs with its scalars on the host, as programs are
// written, and the same with its scalars on the device, where nothing waits for the host.
import { conjugateGradients } from "../cg.mjs";

const NUMBER = 8;

// The scalars on the device, and their places.
const SCALARS = ["rho", "next", "curvature", "alpha", "minusAlpha", "beta", "norm", "one", "minusOne"];

/**
 * A solver { setUp, run, read, free } of A x = b, where A is a matrix { rows, pointers, indices, values } and b is on the device. The
 * preconditioner is "none", "jacobi" with `inverse`, the reciprocals of the diagonal, or "ilu0" with `factors`, to be used where the
 * library computes none. `scalars` is "host" or "device", `algorithm` that of the products. run(iterations) returns when all are done;
 * read() returns x.
 */
export function cudaCg({ runtime, blas, sparse }, A, b, { preconditioner, inverse, factors, scalars, algorithm }) {
  const n = A.rows;
  const uploaded = sparse.upload(A);
  const taken = [uploaded];
  const vector = () => {
    const memory = runtime.allocate(NUMBER * n);
    taken.push({ free: () => runtime.free(memory) });
    return memory;
  };
  const [x, r, p, q] = [vector(), vector(), vector(), vector()];
  const z = preconditioner === "none" ? r : vector();
  const product = sparse.product(uploaded, algorithm, p, q);
  taken.push(product);
  const vectors = blas.vectors(scalars);
  const { setUp, precondition } = { none, jacobi, ilu0 }[preconditioner]();
  setUp();
  const operations = {
    start() {
      runtime.clear(x, NUMBER * n);
      runtime.copy(r, b, NUMBER * n);
    },
    product: () => product.run(),
    precondition,
    copy: (from, to) => vectors.copy(n, from, to),
  };
  const loop = scalars === "host" ? withHostScalars() : withDeviceScalars();
  return {
    setUp() {
      setUp();
      runtime.finish();
    },
    run(iterations) {
      loop(iterations);
      runtime.finish();
    },
    read: () => runtime.read(x, new Float64Array(n)),
    free() {
      for (const one of taken.reverse()) one.free();
    },
  };

  function none() {
    return { setUp() {}, precondition() {} };
  }

  function jacobi() {
    const diagonal = runtime.upload(inverse);
    taken.push({ free: () => runtime.free(diagonal) });
    return { setUp() {}, precondition: () => vectors.multiply(n, diagonal, r, z) };
  }

  // Both triangles of the factors in place; the solves are analysed once.
  function ilu0() {
    const own = sparse.upload({ ...A, values: sparse.ilu0 ? A.values : factors });
    const between = vector();
    const solvers = [sparse.triangle(own, { upper: false, unit: true }, r, between), sparse.triangle(own, { upper: true }, between, z)];
    taken.push(own, ...solvers);
    return {
      setUp() {
        if (sparse.ilu0) {
          runtime.copy(own.arrays[2], uploaded.arrays[2], NUMBER * own.entries);
          sparse.ilu0(own);
        }
        for (const solver of solvers) solver.analyse();
      },
      precondition() {
        for (const solver of solvers) solver.solve();
      },
    };
  }

  function withHostScalars() {
    const [result, factor] = [new Float64Array(1), new Float64Array(1)];
    const scale = (value) => {
      factor[0] = value;
      return factor;
    };
    const hosted = {
      ...operations,
      dot(a, c) {
        vectors.dot(n, a, c, result);
        return result[0];
      },
      norm(a) {
        vectors.nrm2(n, a, result);
        return result[0];
      },
      axpy: (alpha, a, c) => vectors.axpy(n, scale(alpha), a, c),
      xpay(a, beta, c) {
        vectors.scal(n, scale(beta), c);
        vectors.axpy(n, scale(1), a, c);
      },
    };
    return (iterations) => conjugateGradients(hosted, { x, r, z, p, q }, iterations);
  }

  // A quotient is a triangular system of order 1, a negative a product with -1.
  function withDeviceScalars() {
    const numbers = runtime.upload(Float64Array.from(SCALARS, (name) => (name === "one" ? 1 : name === "minusOne" ? -1 : 0)));
    taken.push({ free: () => runtime.free(numbers) });
    const at = Object.fromEntries(SCALARS.map((name, k) => [name, numbers + BigInt(NUMBER * k)]));
    const quotient = (a, c, to) => {
      vectors.copy(1, a, to);
      vectors.divide(c, to);
    };
    return (iterations) => {
      operations.start();
      precondition();
      vectors.copy(n, z, p);
      vectors.dot(n, r, z, at.rho);
      for (let k = 0; k < iterations; k++) {
        product.run();
        vectors.dot(n, p, q, at.curvature);
        quotient(at.rho, at.curvature, at.alpha);
        vectors.axpy(n, at.alpha, p, x);
        vectors.copy(1, at.alpha, at.minusAlpha);
        vectors.scal(1, at.minusOne, at.minusAlpha);
        vectors.axpy(n, at.minusAlpha, q, r);
        vectors.nrm2(n, r, at.norm);
        precondition();
        vectors.dot(n, r, z, at.next);
        quotient(at.next, at.rho, at.beta);
        vectors.scal(n, at.beta, p);
        vectors.axpy(n, at.one, z, p);
        vectors.copy(1, at.next, at.rho);
      }
    };
  }
}
