// The preconditioner of an iterative solver: the plans of ILU(0), made of A, or those that the caller gave. Called by krylov.ts.

import { describe } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { type EngineArray, isOnHost, isSparse, isSparseOnHost, type MatrixOperand, type SparseOperand } from "../../arrays/operands.ts";
import { patternInfoOf, sortLines, trusted } from "../../arrays/sparse.ts";
import type { InPlace } from "../../arrays/triangle.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import type { SparsePlan } from "../../engines/kernels.ts";
import type { Allocation, EngineMemory, HostMemory } from "../../engines/memory.ts";
import type { Routine, Run } from "../../engines/steps.ts";
import { factorLines, factorOnEngine, linesOf } from "../sparse/ilu0.ts";
import { type PlanInUse, planBehind, planOn } from "../sparse/sptrsv.ts";
import { ReservedArrays } from "../sparse/storage.ts";
import { downloadSparse } from "../transfer.ts";

/** The plans that the caller gave. They must be plans of this engine, binary64 and of order n. */
export function givenPlans(routine: string, n: number, given: readonly object[], run: Run): readonly PlanInUse[] {
  return given.map((each, k) => {
    const name = `${routine}: preconditioner[${k}]`;
    const plan = typeof each === "object" && each !== null ? planBehind(each) : undefined;
    if (!plan) throw new ShapeError(`${name} is ${describe(each)}, expected a plan from sptrsv`);
    if (plan.run !== run) throw new ShapeError(`${name} is a plan of another engine, expected one of this engine`);
    plan.lifetime.checkOpen(name);
    if (plan.format !== "binary64") throw new ShapeError(`${name} is ${plan.format}, expected binary64 (the precision of A)`);
    if (plan.n !== n) throw new ShapeError(`${name} has order ${plan.n}, expected ${n} (the order of A)`);
    return plan;
  });
}

/** The plans of ILU(0): L with its unit diagonal, then U. The factors stay in the memory of the engine. A is finite. */
export function* ilu0Plans(routine: string, A: MatrixOperand | SparseOperand): Routine<readonly SparsePlan[]> {
  if (!isSparse(A)) throw new ShapeError(`${routine}: preconditioner is "ilu0" for a dense A, expected a sparse one (or "jacobi")`);
  const S = patternInfoOf(A).ascends ? A : sortLines(yield* downloadSparse(routine, A));
  const isReadable = (yield (kernels) => kernels.memory.isOnHost) as boolean;
  const factors = yield* isReadable && isSparseOnHost(S) ? factorsInPlace(S) : factorsOnDevice(S);
  const made: SparsePlan[] = [];
  try {
    for (const upper of [false, true]) {
      const { A, inPlace } = factors.value;
      const triangle = { A, n: A.rows, upper, byRows: A.format === "csr", unit: !upper, info: patternInfoOf(A), inPlace };
      made.push((yield (kernels) => planOn(kernels, triangle, true, {})) as SparsePlan);
    }
  } catch (error) {
    freeAll([...made, factors]);
    throw error;
  }
  const [L, U] = made as [SparsePlan, SparsePlan];
  if (factors.value.inPlace) return [L, { ...U, free: () => freeAll([U, factors]) }];
  factors.free();
  return made;
}

function freeAll(owners: readonly { free(): void }[]): void {
  for (const owner of owners) owner.free();
}

interface Factors {
  readonly A: SparseOperand;
  readonly inPlace?: InPlace | undefined;
}

// In memory that the host can read, both plans use the arrays of the factors.
function* factorsInPlace(S: Sparse<Real>): Routine<Allocation<Factors>> {
  const lines = linesOf(S);
  const { memory } = (yield (kernels) => kernels) as { memory: HostMemory };
  const integers = [S.pointers, S.indices, lines.diagonal];
  const width = S.values.BYTES_PER_ELEMENT;
  const bytes = [...integers.map(({ byteLength }) => byteLength), S.values.byteLength, width * S.rows];
  const arrays = new ReservedArrays((total) => memory.reserve("ilu0", total), bytes);
  const { allocation } = arrays;
  const [pointers, indices, diagonal] = integers.map((array) => {
    const copy = arrays.integers(array.length);
    copy.set(array);
    return copy;
  }) as [Int32Array, Int32Array, Int32Array];
  const values = arrays.reals(S.values, S.values.length);
  const work = arrays.reals(S.values, S.rows);
  try {
    yield* factorLines(S, { ...lines, pointers, indices, diagonal }, values);
  } catch (error) {
    allocation.free();
    throw error;
  }
  const A = trusted({ ...S, pointers, indices, values }, { ascends: true });
  return { value: { A, inPlace: { diagonal, work } }, free: () => allocation.free() };
}

// On a device, plans have their own copies of the triangles.
function* factorsOnDevice(S: SparseOperand): Routine<Allocation<Factors>> {
  const { memory } = (yield (kernels) => kernels) as { memory: EngineMemory };
  const allocations: Allocation<unknown>[] = [];
  const free = (): void => freeAll(allocations);
  const upload = <V extends Real | Int32Array>(x: V | EngineArray, copied: boolean): V | EngineArray => {
    const like = isOnHost(x) ? x : ((x.BYTES_PER_ELEMENT === 8 ? new Float64Array() : new Float32Array()) as V);
    const allocation = memory.upload("ilu0", like, x.length, copied && isOnHost(x) ? [[x, 0]] : []);
    allocations.push(allocation);
    return allocation.value;
  };
  try {
    const onDevice = <V extends Real | Int32Array>(x: V | EngineArray) => (isOnHost(x) ? upload(x, true) : x);
    const pattern = { pointers: onDevice(S.pointers), indices: onDevice(S.indices) };
    const values = upload(S.values, isOnHost(S.values));
    yield* factorOnEngine({ ...S, ...pattern, values: isOnHost(S.values) ? values : S.values } as SparseOperand, values);
    return { value: { A: trusted({ ...S, ...pattern, values } as SparseOperand, { ascends: true }) }, free };
  } catch (error) {
    free();
    throw error;
  }
}
