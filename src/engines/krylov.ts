// The contract of the iterative solvers (routines/krylov/) with an engine: a workspace of vectors and scalars, and the operations of
// SPEC.md's recurrences on them. hostKrylov.ts implements it for engines whose memory the host can read; a device keeps the scalars too,
// so that the host need not wait for every dot product.
import type { StridedOperand } from "../arrays/matrix.ts";
import type { Operand } from "../arrays/operands.ts";
import type { SparseOperator, SparsePlan } from "./kernels.ts";
import type { Later } from "./memory.ts";
import type { Routine } from "./steps.ts";

/** A system and its preconditioner, as an engine gets them. Arguments have been checked. */
export interface KrylovSystem {
  readonly routine: string;
  readonly n: number;
  readonly A: SparseOperator | StridedOperand;
  readonly b: Operand;
  /** The start; undefined: zeros. */
  readonly x0: Operand | undefined;
  /** The plans are set later (Workspace.plans). */
  readonly preconditioner: "none" | "jacobi" | "plans";
  /** Vectors besides B, X and R; columns of the basis; scalars besides those of SCALARS. */
  readonly vectors: number;
  readonly basis: number;
  readonly scalars: number;
}

export interface KrylovKernels {
  /**
   * A new workspace with X = x0. If the engine is asynchronous (`later`), it has copied what the caller may change when this returns;
   * residents stay where they are.
   */
  workspace(system: KrylovSystem, later: boolean): Later<Workspace>;
}

/** The first vectors of a workspace; its own come next, then the columns of the basis. */
export const B = 0;
export const X = 1;
export const R = 2;
export const OWN = 3;

/** The first scalars of a workspace. */
export const SCALARS = ["rho", "alpha", "beta", "omega", "ts", "bound"] as const;
export type Scalar = (typeof SCALARS)[number];

/** Whether a recurrence goes on, or why it ended. "half": bicgstab met the bound in the middle of an iteration. */
export const STATUSES = ["running", "tolerance", "half", "breakdown", "notFinite"] as const;
export type Status = (typeof STATUSES)[number];

/**
 * What follows a reduction with the value v. Each division or product is one IEEE operation.
 * - a number: that scalar, counted after SCALARS, becomes v.
 * - "rho", "bicgRho", "ts": rho or ts becomes v. "bicgRho" ends in a breakdown if v is not finite.
 * - "cgAlpha": breakdown unless v > 0; alpha := rho / v. "cgBeta": beta := v / rho, rho := v.
 * - "test": v is the norm of an iteration of cg. If it is not finite: "notFinite"; if it is at most bound: "tolerance".
 * - "bicgAlpha": alpha := rho / v. "omega": omega := ts / v. "bicgBeta": beta := (v / rho) * (alpha / omega), rho := v. Breakdown if a
 *   divisor is zero or a number is not finite.
 * - "bicgHalf": breakdown if v is not finite; "half" if it is at most bound, and then v is the norm of the iteration. "bicgTest": the same
 *   at the end of an iteration, with "tolerance".
 */
export type Finish =
  | number
  | "rho"
  | "bicgRho"
  | "ts"
  | "cgAlpha"
  | "cgBeta"
  | "test"
  | "bicgAlpha"
  | "bicgHalf"
  | "omega"
  | "bicgTest"
  | "bicgBeta";

/** What the host knows of a recurrence. */
export interface Look {
  readonly status: Status;
  /** The norms of the iterations that ended since the last look, in order. */
  readonly norms: readonly number[];
}

/**
 * When an update takes place: while the recurrence goes on; if bicgstab met the bound in the middle of this iteration; if the recurrence
 * goes on or met the bound at the end of this iteration.
 */
export type When = "running" | "half" | "passed";

/**
 * Vectors and scalars on an engine. Vectors are numbered. An operation does nothing once the recurrence has ended, but for products,
 * residuals and preconditioning, which then change nothing that matters. On a device operations may run after the call.
 */
export interface Workspace {
  /** The preconditioner, if it is made of plans: they are applied one after the other. */
  plans: readonly SparsePlan[];
  /** For jacobi: the first row whose diagonal entry is zero or missing, or -1. */
  zeroDiagonal(): Routine<number>;
  /** y := A x. */
  product(x: number, y: number): Routine<void>;
  /** y := RN(B - A x). */
  residual(x: number, y: number): Routine<void>;
  /** z := M^-1 r. Returns z, or r without a preconditioner. */
  precondition(r: number, z: number): Routine<number>;
  /** The exact dot product of x and y, or with `root` the square root of that of x and x, rounded once, and what follows from it. */
  reduce(x: number, y: number, root: boolean, finish: Finish): Routine<void>;
  /** y := exaxpy(sign * scalar, x, y). */
  axpy(sign: 1 | -1, scalar: Scalar | number, x: number, y: number, when?: When): Routine<void>;
  /** y := exinvscal(scalar, y). */
  invscal(scalar: number, y: number): Routine<void>;
  /** p := RN(z + beta p). */
  xpay(z: number, p: number): Routine<void>;
  /** p := RN(r + beta RN(p - omega v)). */
  direction(r: number, v: number, p: number): Routine<void>;
  /** x := RN(x + d). */
  add(d: number, x: number): Routine<void>;
  copy(x: number, y: number): Routine<void>;
  /** y := the first `count` columns of the basis times the coefficients, by exgemv. */
  combine(coefficients: Float64Array, count: number, y: number): Routine<void>;
  /** How many iterations (or steps of gmres) may begin before the next look, if `done` iterations have ended. */
  ahead(done: number): number;
  /** An iteration begins. */
  begin(iteration: number): void;
  /** Wait for the operations so far. */
  look(): Routine<Look>;
  /** Scalars from `from` on, counted after SCALARS, as of the last look. */
  scalars(from: number, count: number): Routine<Float64Array>;
  /** Start a recurrence with this bound: the status is "running". */
  start(bound: number): Routine<void>;
  /** A copy of a vector on the host. */
  read(x: number): Routine<Float64Array>;
  free(): void;
}

/** The scalars of a workspace on the host, and what follows a reduction. The kernels of a device do the same. */
export class Recurrence {
  status: Status = "running";
  readonly values: Record<Scalar, number> = { rho: 0, alpha: 0, beta: 0, omega: 0, ts: 0, bound: 0 };
  readonly extra: Float64Array;
  norms: number[] = [];

  constructor(scalars: number) {
    this.extra = new Float64Array(scalars);
  }

  /** Whether an update takes place. The host looks after every iteration, so a bound that was met was met in this one. */
  allows(when: When): boolean {
    if (when === "half") return this.status === "half";
    return this.status === "running" || (when === "passed" && this.status === "tolerance");
  }

  get(scalar: Scalar | number): number {
    return typeof scalar === "number" ? (this.extra[scalar] as number) : this.values[scalar];
  }

  finish(finish: Finish, v: number): void {
    const s = this.values;
    switch (finish) {
      case "rho":
        s.rho = v;
        break;
      case "bicgRho":
        s.rho = v;
        this.breakUnless(Number.isFinite(v));
        break;
      case "ts":
        s.ts = v;
        break;
      case "cgAlpha":
        s.alpha = s.rho / v;
        this.breakUnless(v > 0);
        break;
      case "cgBeta":
        s.beta = v / s.rho;
        s.rho = v;
        break;
      case "test":
        this.norms.push(v);
        if (!Number.isFinite(v)) this.status = "notFinite";
        else if (v <= s.bound) this.status = "tolerance";
        break;
      case "bicgAlpha":
        s.alpha = s.rho / v;
        this.breakUnless(v !== 0 && Number.isFinite(v) && Number.isFinite(s.alpha));
        break;
      case "bicgHalf":
        this.breakUnless(Number.isFinite(v));
        if (this.status !== "running" || !(v <= s.bound)) break;
        this.norms.push(v);
        this.status = "half";
        break;
      case "omega":
        s.omega = s.ts / v;
        this.breakUnless(v !== 0 && Number.isFinite(v) && Number.isFinite(s.ts) && Number.isFinite(s.omega));
        break;
      case "bicgTest":
        this.breakUnless(Number.isFinite(v));
        if (this.status !== "running") break;
        this.norms.push(v);
        if (v <= s.bound) this.status = "tolerance";
        break;
      case "bicgBeta":
        s.beta = (v / s.rho) * (s.alpha / s.omega);
        this.breakUnless(s.rho !== 0 && s.omega !== 0 && Number.isFinite(v) && Number.isFinite(s.beta));
        s.rho = v;
        break;
      default:
        this.extra[finish] = v;
    }
  }

  private breakUnless(condition: boolean): void {
    if (!condition) this.status = "breakdown";
  }
}
