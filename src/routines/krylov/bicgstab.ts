// The recurrence of bicgstab with right preconditioning, as SPEC.md fixes it, on the workspace of an engine. Called by krylov.ts.
import { OWN, R, X } from "../../engines/krylov.ts";
import type { Method } from "./cg.ts";

const [P, U, V, W, T, S0] = [OWN, OWN + 1, OWN + 2, OWN + 3, OWN + 4, OWN + 5];

/**
 * r becomes s in the middle of an iteration, and r again at its end. x is updated last, so that an iteration that ends in a breakdown
 * leaves it as it was.
 */
export const stabilizedBiconjugateGradients: Method = {
  vectors: 6,
  *start(space) {
    yield* space.copy(R, S0);
    yield* space.copy(R, P);
    yield* space.reduce(S0, R, false, "bicgRho");
  },
  *iterate(space) {
    const u = yield* space.precondition(P, U);
    yield* space.product(u, V);
    yield* space.reduce(S0, V, false, "bicgAlpha");
    yield* space.axpy(-1, "alpha", V, R);
    yield* space.reduce(R, R, true, "bicgHalf");
    yield* space.axpy(1, "alpha", u, X, "half");
    const w = yield* space.precondition(R, W);
    yield* space.product(w, T);
    yield* space.reduce(T, R, false, "ts");
    yield* space.reduce(T, T, false, "omega");
    // If M is none, w is r itself, which the next update changes.
    if (w === R) yield* space.copy(R, W);
    yield* space.axpy(-1, "omega", T, R);
    yield* space.reduce(R, R, true, "bicgTest");
    yield* space.axpy(1, "alpha", u, X, "passed");
    yield* space.axpy(1, "omega", W, X, "passed");
    yield* space.reduce(S0, R, false, "bicgBeta");
    yield* space.direction(R, V, P);
  },
};
