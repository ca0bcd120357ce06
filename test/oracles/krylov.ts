// The oracle of cg, bicgstab and gmres: the recurrences of SPEC.md, operation by operation, in BigInt rationals. A few dozen
// iterations with 30 unknowns take a fraction of a second.
import type { Matrix, Sparse } from "../../src/arrays/types.ts";
import { negated, product, quotient, range, rounded, sum, trsv, type Value, value } from "./matrices.ts";
import { exactly, type Part } from "./sparse.ts";
import { axpy, dot, type Numbers, nrm2, type StoredRow, storedRows, terms } from "./spmv.ts";

export type Method = "cg" | "bicgstab" | "gmres";
export type Reason = "tolerance" | "maxIterations" | "breakdown" | "stagnation" | "notFinite";
/** A triangle of a matrix, as a plan of sptrsv() solves with it. */
export interface Triangle {
  readonly A: Sparse;
  readonly part: Part;
}
export interface Options {
  readonly preconditioner?: "none" | "jacobi" | "ilu0" | readonly Triangle[];
  readonly tolerance?: number;
  readonly absolute?: number;
  readonly maxIterations?: number;
  readonly maxRestarts?: number;
  readonly restart?: number;
  readonly x0?: Numbers;
}
export interface Answer {
  readonly x: number[];
  readonly converged: boolean;
  readonly reason: Reason;
  readonly iterations: number;
  readonly residual: number;
  readonly history: number[];
}

type Vector = readonly number[];
const exact = (v: Value): number => rounded(v, "binary64"); // an exact zero is +0
const areFinite = (x: Vector): boolean => x.every(Number.isFinite);

// ---------------------------------------------------------------- the parts of an iteration

// Every entry of a dense matrix is stored.
function rowsOf(A: Sparse | Matrix): StoredRow[] {
  if ("pointers" in A) return storedRows(A);
  const at = (i: number, j: number): number => A.data[A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i)] as number;
  return range(A.rows).map((i) => ({ columns: range(A.cols), values: range(A.cols).map((j) => value(at(i, j))) }));
}

const entryOf = ({ columns, values }: StoredRow, j: number): Value | undefined => values[columns.indexOf(j)];

/** The incomplete factors of A as a matrix in its own pattern: unit L below the diagonal, U on and above it. */
export function ilu0(A: Sparse | Matrix): Sparse {
  const rows = rowsOf(A).map(({ columns, values }) => new Map(columns.map((j, p) => [j, values[p] as Value])));
  for (const [i, row] of rows.entries())
    for (const j of [...row.keys()].sort((a, b) => a - b)) {
      const products = [...row].flatMap(([k, l]) => {
        const u = k < Math.min(i, j) ? rows[k]?.get(j) : undefined;
        return u ? [negated(product(l, u))] : [];
      });
      const s = exact(sum([row.get(j) as Value, ...products]));
      row.set(j, value(i <= j ? s : quotient(value(s), rows[j]?.get(j) as Value, "binary64")));
    }
  const pointers = [0];
  for (const row of rows) pointers.push((pointers.at(-1) as number) + row.size);
  const values = rows.flatMap((row) => [...row.values()].map(exact));
  const pattern = { pointers: Int32Array.from(pointers), indices: Int32Array.from(rows.flatMap((row) => [...row.keys()])) };
  return { format: "csr", rows: A.rows, cols: A.cols, ...pattern, values: Float64Array.from(values) };
}

function preconditionerOf(A: Sparse | Matrix, rows: readonly StoredRow[], kind: Options["preconditioner"]): (r: Vector) => number[] {
  if (kind === undefined || kind === "none") return (r) => [...r];
  if (kind === "jacobi") return (r) => r.map((v, i) => quotient(value(v), entryOf(rows[i] as StoredRow, i) as Value, "binary64"));
  const factors = kind === "ilu0" ? ilu0(A) : undefined;
  const triangles = factors
    ? [
        { A: factors, part: { unit: true } },
        { A: factors, part: { uplo: "upper" } as const },
      ]
    : (kind as readonly Triangle[]);
  return (r) => triangles.reduce((z: number[], { A, part }) => exactly(A, Float64Array.from(z), part, "binary64"), [...r]);
}

/** A system with what the methods share. */
interface System {
  readonly apply: (x: Vector) => number[];
  /** RN(b - A x). */
  readonly residual: (x: Vector) => number[];
  readonly precondition: (r: Vector) => number[];
  readonly bound: number;
  readonly maxIterations: number;
  readonly restart: number;
}

/** What a method has reached. */
interface State {
  x: number[];
  readonly history: number[];
}

/**
 * One run of a method from the residual r with its norm, above the bound: the reason why it ended, "met" where the norm of its own
 * residual is at most the bound, or "again" where it goes on from a new residual.
 */
type Run = (system: System, state: State, r: number[], norm: number) => Reason | "met" | "again";

const isLast = ({ maxIterations }: System, { history }: State): boolean => history.length - 1 >= maxIterations;

// ---------------------------------------------------------------- the three methods

const cg: Run = (system, state, start) => {
  const { apply, precondition, bound } = system;
  let r = start;
  let z = precondition(r);
  let p = z;
  let rho = dot(r, z);
  for (;;) {
    if (isLast(system, state)) return "maxIterations";
    const q = apply(p);
    const d = dot(p, q);
    if (!(d > 0)) return "breakdown";
    const alpha = rho / d;
    state.x = axpy(alpha, p, state.x);
    r = axpy(-alpha, q, r);
    const norm = nrm2(r);
    state.history.push(norm);
    if (!Number.isFinite(norm)) return "notFinite";
    if (norm <= bound) return "met";
    z = precondition(r);
    const next = dot(r, z);
    const beta = value(next / rho);
    p = z.map((v, i) => exact(sum([value(v), product(beta, value(p[i] as number))])));
    rho = next;
  }
};

const bicgstab: Run = (system, state, start) => {
  const { apply, precondition, bound } = system;
  let r = start;
  let p = start;
  let rho = dot(start, r);
  for (;;) {
    if (isLast(system, state)) return "maxIterations";
    if (!Number.isFinite(rho)) return "breakdown";
    const u = precondition(p);
    const v = apply(u);
    const divisor = dot(start, v);
    const alpha = rho / divisor;
    if (divisor === 0 || !areFinite([divisor, alpha, ...u, ...v])) return "breakdown";
    const s = axpy(-alpha, v, r);
    let norm = nrm2(s);
    if (!Number.isFinite(norm)) return "breakdown";
    const half = axpy(alpha, u, state.x);
    if (norm <= bound) {
      state.x = half;
      state.history.push(norm);
      return "met";
    }
    const w = precondition(s);
    const t = apply(w);
    const square = dot(t, t);
    const omega = dot(t, s) / square;
    if (square === 0 || !areFinite([square, omega, ...w, ...t])) return "breakdown";
    const x = axpy(omega, w, half);
    r = axpy(-omega, t, s);
    norm = nrm2(r);
    if (!Number.isFinite(norm)) return "breakdown";
    state.x = x;
    state.history.push(norm);
    if (norm <= bound) return "met";
    const next = dot(start, r);
    const beta = (next / rho) * (alpha / omega);
    if (rho === 0 || omega === 0 || !areFinite([next, beta])) return "breakdown";
    p = p.map((old, i) => {
      const inner = exact(sum([value(old), negated(product(value(omega), value(v[i] as number)))]));
      return exact(sum([value(r[i] as number), product(value(beta), value(inner))]));
    });
    if (!areFinite(p)) return "breakdown";
    rho = next;
  }
};

interface Rotation {
  readonly c: number;
  readonly s: number;
}
const rotated = ({ c, s }: Rotation, p: number, q: number): [number, number] => [dot([c, s], [p, q]), dot([-s, c], [p, q])];

const gmres: Run = (system, state, start, norm) => {
  const { apply, precondition, bound, restart } = system;
  const basis: number[][] = [start.map((v) => v / norm)]; // one IEEE division each
  const columns: number[][] = []; // of the triangle
  const rotations: Rotation[] = [];
  const right = [norm];

  function end<T>(reason: T): T {
    const n = columns.length;
    if (n === 0) return reason;
    const plain = { unit: false, rounding: "single", refine: 0, refineBlocks: 0, blockSize: n, format: "binary64" } as const;
    const y = trsv({ n, T: (i, j) => columns[j]?.[i] as number, upper: true, ...plain }, right.slice(0, n)).map(value);
    const u = start.map((_, i) => exact(sum(y.map((yj, j) => product(value(basis[j]?.[i] as number), yj)))));
    const z = precondition(u);
    state.x = state.x.map((v, i) => exact(sum([value(v), value(z[i] as number)])));
    return reason;
  }

  if (isLast(system, state)) return "maxIterations";
  while (columns.length < restart) {
    if (isLast(system, state)) break; // the residual of the new x decides
    let w = apply(precondition(basis.at(-1) as number[]));
    const column = basis.map((v) => {
      const h = dot(w, v);
      w = axpy(-h, v, w);
      return h;
    });
    const h = nrm2(w);
    basis.push(w.map((v) => v / h));
    for (const [i, rotation] of rotations.entries())
      [column[i], column[i + 1]] = rotated(rotation, column[i] as number, column[i + 1] as number);
    const j = rotations.length;
    const g = nrm2([column[j] as number, h]);
    if (g === 0) return end("breakdown");
    if (!Number.isFinite(g)) return end("notFinite");
    const rotation = { c: (column[j] as number) / g, s: h / g };
    column[j] = g;
    [right[j], right[j + 1]] = rotated(rotation, right[j] as number, 0);
    columns.push(column);
    rotations.push(rotation);
    const size = Math.abs(right[j + 1] as number);
    state.history.push(size);
    if (!Number.isFinite(size)) return end("notFinite");
    if (size <= bound) return end("met");
    if (h === 0) break;
  }
  return end("again");
};

const METHODS = { cg, bicgstab, gmres };

// ---------------------------------------------------------------- the stopping rule

/** A x = b by one of the methods, to the bit. */
export function iterate(method: Method, A: Sparse | Matrix, b: Numbers, options: Options = {}): Answer {
  const n = b.length;
  const { tolerance = 1e-10, absolute = 0, maxIterations = Math.max(100, 10 * n), maxRestarts = 3, restart = 30 } = options;
  const size = nrm2(b);
  if (Array.from(b).every((v) => v === 0))
    return { x: new Array(n).fill(0), converged: true, reason: "tolerance", iterations: 0, residual: 0, history: [0] };

  const rows = rowsOf(A);
  const system: System = {
    apply: (x) => {
      const xs = x.map(value);
      return rows.map((row) => exact(sum(terms(row, xs))));
    },
    residual: (x) => {
      const xs = x.map(value);
      return rows.map((row, i) => exact(sum([value(b[i] as number), ...terms(row, xs).map(negated)])));
    },
    precondition: preconditionerOf(A, rows, options.preconditioner),
    bound: Math.max(tolerance * size, absolute),
    maxIterations,
    restart,
  };
  const state: State = { x: options.x0 ? Array.from(options.x0) : new Array(n).fill(0), history: [] };
  const reason = start(METHODS[method], system, state, maxRestarts);
  const residual = nrm2(system.residual(state.x)) / size;
  return { x: state.x, converged: reason === "tolerance", reason, iterations: state.history.length - 1, residual, history: state.history };
}

function start(run: Run, system: System, state: State, maxRestarts: number): Reason {
  let r = system.residual(state.x);
  let norm = nrm2(r);
  let before = norm; // at the start, or at the last restart; a new cycle of gmres is none
  state.history.push(norm);
  for (let restarts = 0; ; ) {
    if (!Number.isFinite(norm)) return "notFinite";
    if (norm <= system.bound) return "tolerance";
    const end = run(system, state, r, norm);
    if (end !== "met" && end !== "again") return end;
    r = system.residual(state.x);
    norm = nrm2(r);
    if (end === "again" || !(norm > system.bound)) continue;
    if (!(2 * norm < before) || restarts === maxRestarts) return "stagnation";
    before = norm;
    restarts++;
  }
}
