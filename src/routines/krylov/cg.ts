// The recurrences of cg and bicgstab as SPEC.md fixes them, one iteration each, on the workspace of an engine. Called by krylov.ts.
import { OWN, R, type Workspace, X } from "../../engines/krylov.ts";
import type { Routine } from "../../engines/steps.ts";

/** A method whose iterations an engine can begin before the host knows how the last one ended. */
export interface Method {
  /** Vectors besides b, x and r. */
  readonly vectors: number;
  /** Start from r. */
  start(space: Workspace): Routine<void>;
  iterate(space: Workspace): Routine<void>;
}

const [P, Q, Z] = [OWN, OWN + 1, OWN + 2];

export const conjugateGradients: Method = {
  vectors: 3,
  *start(space) {
    const z = yield* space.precondition(R, Z);
    yield* space.copy(z, P);
    yield* space.reduce(R, z, false, "rho");
  },
  *iterate(space) {
    yield* space.product(P, Q);
    yield* space.reduce(P, Q, false, "cgAlpha");
    yield* space.axpy(1, "alpha", P, X);
    yield* space.axpy(-1, "alpha", Q, R);
    yield* space.reduce(R, R, true, "test");
    const z = yield* space.precondition(R, Z);
    yield* space.reduce(R, z, false, "cgBeta");
    yield* space.xpay(z, P);
  },
};
