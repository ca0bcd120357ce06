// One computation of the part "Try": the operands are read, the library computes exactly, this worker computes in ordinary arithmetic.
import * as vectorRoutines from "../../src/api/vectorRoutines.ts";
import { embeddedVectors } from "../../src/engines/embeddedVectors.ts";
import { Sha256 } from "../../src/everywhere/sha256.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import { plainDot, plainSum } from "../../src/report/measure/plain.ts";
import { type Answer, OPERATIONS, type Operation, type Task } from "../try/operations.ts";
import { described, type Operand, readOperand } from "./operands.ts";

/** How to get a result in both ways. `R` has the routines: an engine, or the synchronous functions. */
export interface Plan<R> {
  readonly shape: readonly number[];
  exact(routines: R): Exact | Promise<Exact>;
  /** Whether the result is the exact one, rounded once. Else it is only the same everywhere: each step of a method is exact, not its end. */
  readonly isExact?: boolean;
  /** A text says why it is not computed. */
  readonly ordinary: (() => Float64Array) | string;
}

export interface Exact {
  readonly result: Float64Array;
  readonly notes?: readonly string[];
}

/** What sums need of an engine. The synchronous functions have it too, without the rest of the library. */
interface Sums {
  exsum(x: Float64Array): number | Promise<number>;
  exdot(x: Float64Array, y: Float64Array): number | Promise<number>;
  exnrm2(x: Float64Array): number | Promise<number>;
}

export async function compute({ operation, operands: sources, method, engine }: Task): Promise<Answer> {
  const operands: Operand[] = [];
  const read: Record<string, string> = {};
  for (const { name, shape } of OPERATIONS[operation].operands) {
    const operand = await readOperand(name, sources[name] ?? "", shape);
    operands.push(operand);
    read[name] = described(operand);
  }
  const sums = sumsPlan(operation, operands as Float64Array[]);
  if (sums && engine === "wasm") return { read, ...(await answer(sums, vectorRoutines, embeddedVectors().name)) };
  const { withEngine } = await import("./engineOf.ts");
  const plan = sums ?? (await import("./systems.ts")).planFor(operation, operands, method);
  return { read, ...(await withEngine(engine, (opened) => answer(plan, opened, opened.device))) };
}

function sumsPlan(operation: Operation, [x, y]: readonly Float64Array[]): Plan<Sums> | undefined {
  const plan = (exact: (routines: Sums) => number | Promise<number>, ordinary: () => number): Plan<Sums> => ({
    shape: [],
    exact(routines) {
      const value = exact(routines);
      if (typeof value === "number") return { result: Float64Array.of(value) };
      return value.then((sum) => ({ result: Float64Array.of(sum) }));
    },
    ordinary: () => Float64Array.of(ordinary()),
  });
  if (x === undefined) return undefined;
  if (operation === "sum")
    return plan(
      ({ exsum }) => exsum(x),
      () => plainSum(x),
    );
  if (operation === "norm")
    return plan(
      ({ exnrm2 }) => exnrm2(x),
      () => Math.sqrt(plainDot(x, x)),
    );
  if (operation === "dot" && y !== undefined)
    return plan(
      ({ exdot }) => exdot(x, y),
      () => plainDot(x, y),
    );
  return undefined;
}

async function answer<R>({ shape, exact, isExact = true, ordinary }: Plan<R>, routines: R, device: string): Promise<Omit<Answer, "read">> {
  const { value, time: exactTime } = await timed(() => exact(routines));
  const { result, notes = [] } = value;
  const { value: usual, time: ordinaryTime } = await timed(() => (typeof ordinary === "string" ? ordinary : ordinary()));
  const sha256 = new Sha256().update(bytesOf(result)).hex();
  return { shape, isExact, exact: result, ordinary: usual, sha256, exactTime, ordinaryTime, device, notes };
}

// The time of a call in milliseconds. A short one is repeated, since clocks of browsers are coarse.
async function timed<T>(call: () => T | Promise<T>): Promise<{ value: T; time: number }> {
  let value: T | undefined;
  for (let calls = 1; ; calls *= 4) {
    const begin = performance.now();
    for (let k = 0; k < calls; k++) {
      const result = call();
      value = result instanceof Promise ? await result : result;
    }
    const passed = performance.now() - begin;
    if (passed > 5 || calls > 1e6) return { value: value as T, time: Math.max(passed / calls, 1e-6) };
  }
}
