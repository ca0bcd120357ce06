// The workspace of the iterative solvers on a device (engines/krylov.ts): vectors, scalars and the test of the recurrence are there, and the
// host looks only now and then. Called by the engine.
//
// The host gives the commands of several iterations and then reads the state. A reduction rounds its sum on the device. If the certificate
// does not decide a sum, the recurrence stops there: later commands do nothing, and the host computes the sum exactly and repeats the commands
// after it. So the result does not depend on when the host looks.

import { EngineError } from "../../../arrays/errors.ts";
import type { StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { bufferOf, DeviceArray } from "../../deviceArray.ts";
import { keepMatrix } from "../../deviceMemory.ts";
import { inScope, Scope } from "../../deviceScope.ts";
import type { SparseOperator, SparsePlan } from "../../kernels.ts";
import {
  B,
  type Finish,
  type KrylovKernels,
  type KrylovSystem,
  type Look,
  OWN,
  Recurrence,
  SCALARS,
  type Scalar,
  STATUSES,
  type When,
  type Workspace,
  X,
} from "../../krylov.ts";
import type { Routine } from "../../steps.ts";
import { gemv } from "../dense/gemv.ts";
import { long } from "../device/numbers.ts";
import { type Elements, exactDot, fitsOneLaunch, launchDot } from "../reductions/reduce.ts";
import { type DeviceProduct, launchSpmv, prepareSpmv } from "../sparse/spmv.ts";
import { AT, EXTRA, finishNumber, MAX_AHEAD, NORM_COUNT, NORMS, placeOf, SEQUENCE, STATUS, UNDECIDED, whenNumber } from "./layout.ts";
import { finish as finishSource, updateSources } from "./sources.ts";

const UPDATES = ["axpy", "invscal", "xpay", "direction", "quotient", "sum", "copy"] as const;
type Update = (typeof UPDATES)[number];

// Enough work-groups to keep the memory busy.
const GROUP = 256;
const GROUPS_PER_UNIT = 16;
// Columns of the basis begin at multiples of this, so that wide loads are aligned.
const COLUMN_UNIT = 32;
// The host looks after a quarter as many iterations as there were, so that few are begun in vain.
const LOOK_RATIO = 4;

export function deviceKrylov(device: Device): KrylovKernels {
  return { workspace: (system) => new DeviceWorkspace(device, system) };
}

/** A command that can be repeated. A reduction tells how to complete it on the host. */
interface Command {
  give(): Routine<void>;
  readonly reduction?: {
    readonly x: number;
    readonly y: number;
    readonly root: boolean;
    readonly finish: Finish;
    readonly iteration: number;
  };
}

class DeviceWorkspace implements Workspace {
  plans: readonly SparsePlan[] = [];
  private readonly scope: Scope;
  private readonly n: number;
  private readonly matrix: DeviceProduct | StridedOperand;
  private readonly vectors: DeviceArray[];
  private readonly basis: DeviceArray;
  private readonly columnStride: number;
  private readonly state: DeviceBuffer;
  private readonly known: Float64Array; // the state at the last look
  private readonly diagonal: DeviceBuffer | undefined;
  private readonly room: DeviceArray; // for a column of the basis as a vector of its own, and between two plans
  private readonly stops: boolean; // whether all commands stop with the recurrence
  private commands: Command[] = [];
  private iteration = 0;

  constructor(
    private readonly device: Device,
    private readonly system: KrylovSystem,
  ) {
    const { routine, n, A, vectors, basis, scalars, preconditioner } = system;
    if (!fitsOneLaunch(n))
      throw new EngineError(`${routine}: A has order ${n}, expected one whose vectors ${device.name} adds in one launch`);
    this.n = n;
    this.scope = new Scope(device, routine);
    try {
      this.columnStride = Math.ceil(n / COLUMN_UNIT) * COLUMN_UNIT;
      this.vectors = Array.from({ length: OWN + vectors }, () => this.vector(n));
      this.basis = this.vector(this.columnStride * basis);
      this.room = this.vector(n);
      this.diagonal = preconditioner === "jacobi" ? this.scope.scratch(8 * n) : undefined;
      this.known = new Float64Array(EXTRA + scalars);
      this.state = this.scope.copy(this.known);
      this.put(system.b, B);
      if (system.x0) this.put(system.x0, X);
      else device.fill(this.bufferOf(X), new Float64Array(1));
      this.stops = !("data" in A) && preconditioner !== "plans";
      this.matrix = this.load(A);
    } catch (error) {
      this.scope.free();
      throw error;
    }
  }

  private vector(length: number): DeviceArray {
    return new DeviceArray("binary64", length, this.scope.scratch(8 * length));
  }

  private put(x: KrylovSystem["b"], to: number): void {
    if (isOnHost(x)) this.device.write(this.bufferOf(to), x);
    else this.device.copy(bufferOf(x), this.bufferOf(to), 8 * this.n);
  }

  private load(A: SparseOperator | StridedOperand): DeviceProduct | StridedOperand {
    if (!("data" in A)) return prepareSpmv(this.scope, A);
    const kept = keepMatrix(this.device, this.scope.routine, A, false);
    if (kept.value !== A) this.scope.adopt(bufferOf(kept.value.data));
    return kept.value;
  }

  private bufferOf(k: number): DeviceBuffer {
    return (this.vectors[k] as DeviceArray).buffer;
  }

  // Vector k where kernels take an offset.
  private elements(k: number): Elements {
    const column = k - this.vectors.length;
    return column < 0 ? { buffer: this.bufferOf(k), from: 0 } : { buffer: this.basis.buffer, from: column * this.columnStride };
  }

  // Vector k as an array of its own: columns of the basis are copied.
  private whole(k: number): DeviceArray {
    const own = this.vectors[k];
    if (own) return own;
    const { buffer, from } = this.elements(k);
    this.device.copy(buffer, this.room.buffer, 8 * this.n, 8 * from);
    return this.room;
  }

  private *run(command: Command): Routine<void> {
    this.commands.push(command);
    yield* command.give();
  }

  private multiply(alpha: number, x: number, beta: number, y: number, gate?: DeviceBuffer): Command {
    const self = this;
    return {
      *give() {
        const { device, matrix } = self;
        const from = self.whole(x);
        if (!("data" in matrix)) launchSpmv(device, matrix, alpha, from.buffer, beta, self.bufferOf(y), gate);
        else yield* inScope(device, self.scope.routine, (scope) => gemv(scope, alpha, matrix, from, beta, self.whole(y)));
      },
    };
  }

  *product(x: number, y: number): Routine<void> {
    yield* this.run(this.multiply(1, x, 0, y, this.state));
  }

  *residual(x: number, y: number): Routine<void> {
    this.device.copy(this.bufferOf(B), this.bufferOf(y), 8 * this.n);
    yield* this.multiply(-1, x, 1, y).give();
  }

  *zeroDiagonal(): Routine<number> {
    const { device, diagonal, n, scope } = this;
    if (!diagonal) return -1;
    const missing = scope.copy(Int32Array.of(n));
    const { A } = this.system;
    if ("data" in A) {
      const { data, offset, rowStride, colStride } = this.matrix as StridedOperand;
      this.launch("denseDiagonalOf", "copy", [n, long(offset), long(rowStride + colStride), bufferOf(data), diagonal, missing]);
    } else {
      const { pointers, indices, values } = this.matrix as DeviceProduct;
      this.launch("diagonalOf", "copy", [n, pointers, indices, values, diagonal, missing]);
    }
    const first = new Int32Array(1);
    yield device.read(missing, first);
    return first[0] === n ? -1 : (first[0] as number);
  }

  *precondition(r: number, z: number): Routine<number> {
    const { diagonal } = this;
    if (diagonal) yield* this.update("quotient", r, z, { third: diagonal });
    if (diagonal || this.system.preconditioner === "none") return diagonal ? z : r;
    const self = this;
    yield* this.run({
      *give() {
        const { plans, room } = self;
        let from = self.whole(r);
        // Results alternate between z and `room`, so that the last one is z. A plan may not write what it reads.
        for (const [k, plan] of plans.entries()) {
          const isLast = (plans.length - k) % 2 === 1;
          let to = isLast ? self.whole(z) : room;
          if (to === from) to = self.spare();
          yield* plan.solve(from, to);
          from = to;
        }
        if (plans.length === 0 || from !== self.whole(z)) self.device.copy(from.buffer, self.bufferOf(z), 8 * self.n);
      },
    });
    return z;
  }

  private another: DeviceArray | undefined;
  private spare(): DeviceArray {
    this.another ??= this.vector(this.n);
    return this.another;
  }

  *reduce(x: number, y: number, root: boolean, finish: Finish): Routine<void> {
    const { n, scope, state, iteration } = this;
    const sequence = this.commands.length;
    const self = this;
    yield* this.run({
      reduction: { x, y, root, finish, iteration },
      // biome-ignore lint/correctness/useYield: the host does not wait
      *give() {
        const args = [finishNumber(finish), iteration, sequence];
        launchDot(scope, n, self.elements(x), self.elements(y), root, finishSource, state, args);
      },
    });
  }

  *axpy(sign: 1 | -1, scalar: Scalar | number, x: number, y: number, when: When = "running"): Routine<void> {
    yield* this.update("axpy", x, y, { sign, first: placeOfAny(scalar), when });
  }

  *invscal(scalar: number, y: number): Routine<void> {
    yield* this.update("invscal", y, y, { first: placeOfAny(scalar) });
  }

  *xpay(z: number, p: number): Routine<void> {
    yield* this.update("xpay", z, p, { first: placeOf("beta") });
  }

  *direction(r: number, v: number, p: number): Routine<void> {
    yield* this.update("direction", r, p, { first: placeOf("beta"), second: placeOf("omega"), third: this.bufferOf(v) });
  }

  *add(d: number, x: number): Routine<void> {
    yield* this.update("sum", d, x, {});
  }

  *copy(x: number, y: number): Routine<void> {
    yield* this.update("copy", x, y, {});
  }

  private *update(
    op: Update,
    x: number,
    y: number,
    how: { sign?: number; first?: number; second?: number; third?: DeviceBuffer; when?: When },
  ): Routine<void> {
    const { sign = 1, first = 0, second = 0, when = "running" } = how;
    const { n, state, iteration } = this;
    const self = this;
    yield* this.run({
      // biome-ignore lint/correctness/useYield: the host does not wait
      *give() {
        const [from, to] = [self.elements(x), self.elements(y)];
        const { third = from.buffer } = how;
        const vectors = [long(n), long(from.from), long(to.from), from.buffer, to.buffer, third, state] as const;
        self.launch("update", op, [...vectors, first, second, sign, whenNumber(when), iteration]);
      },
    });
  }

  private launch(name: string, op: Update, args: Parameters<Device["launch"]>[3]): void {
    const { device, n } = this;
    const kernel = device.kernel(name, updateSources, { OP: UPDATES.indexOf(op) });
    const group = Math.min(GROUP, kernel.maxGroupSize);
    const groups = Math.max(1, Math.min(device.computeUnits * GROUPS_PER_UNIT, Math.ceil(n / group)));
    device.launch(kernel, [groups], [group], args);
  }

  *combine(coefficients: Float64Array, count: number, y: number): Routine<void> {
    const { device, n, columnStride, basis } = this;
    const V = { data: basis, offset: 0, rows: n, cols: count, rowStride: 1, colStride: columnStride };
    yield* inScope(device, this.scope.routine, (scope) => gemv(scope, 1, V, coefficients, 0, this.whole(y)));
  }

  /** Products and preconditioners that wait for the host do not stop with the recurrence: then the host looks after every iteration. */
  ahead(done: number): number {
    return this.stops ? Math.min(MAX_AHEAD, 1 + Math.floor(done / LOOK_RATIO)) : 1;
  }

  begin(iteration: number): void {
    this.iteration = iteration;
  }

  *look(): Routine<Look> {
    const { known, device, state } = this;
    yield device.read(state, known);
    while (known[STATUS] === UNDECIDED) {
      yield* this.decide();
      yield device.read(state, known);
    }
    this.commands = [];
    const count = known[NORM_COUNT] as number;
    if (count > 0) device.fill(state, new Float64Array(1), 8 * NORM_COUNT, 8);
    return { status: STATUSES[known[STATUS] as number] as Look["status"], norms: Array.from(known.subarray(NORMS, NORMS + count)) };
  }

  // Complete the reduction that the certificate did not decide, and repeat the commands after it.
  private *decide(): Routine<void> {
    const { known, device, n } = this;
    const at = known[SEQUENCE] as number;
    const { x, y, root, finish, iteration } = (this.commands[at] as Command).reduction as Required<Command>["reduction"];
    const value = yield* inScope(
      device,
      this.scope.routine,
      (scope): Work<number> => exactDot(scope, n, this.elements(x), this.elements(y), root),
    );
    const recurrence = new Recurrence(known.length - EXTRA);
    for (const scalar of SCALARS) recurrence.values[scalar] = known[placeOf(scalar)] as number;
    recurrence.extra.set(known.subarray(EXTRA));
    recurrence.finish(finish, value);
    for (const scalar of SCALARS) known[placeOf(scalar)] = recurrence.values[scalar];
    known.set(recurrence.extra, EXTRA);
    for (const norm of recurrence.norms) {
      known[NORMS + (known[NORM_COUNT] as number)] = norm;
      known[NORM_COUNT] = (known[NORM_COUNT] as number) + 1;
    }
    known[STATUS] = STATUSES.indexOf(recurrence.status);
    known[AT] = iteration;
    device.write(this.state, known); // nothing else is pending
    for (const command of this.commands.slice(at + 1)) yield* command.give();
  }

  // biome-ignore lint/correctness/useYield: known since the last look
  *scalars(from: number, count: number): Routine<Float64Array> {
    return this.known.slice(EXTRA + from, EXTRA + from + count);
  }

  // biome-ignore lint/correctness/useYield: the host does not wait
  *start(bound: number): Routine<void> {
    this.device.fill(this.state, new Float64Array(1), 8 * STATUS, 8);
    this.device.fill(this.state, Float64Array.of(bound), 8 * placeOf("bound"), 8);
  }

  *read(x: number): Routine<Float64Array> {
    const copy = new Float64Array(this.n);
    yield this.device.read(this.bufferOf(x), copy);
    return copy;
  }

  free(): void {
    this.scope.free();
  }
}

const placeOfAny = (scalar: Scalar | number): number => (typeof scalar === "number" ? EXTRA + scalar : placeOf(scalar));
