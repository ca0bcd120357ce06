// The levels of a sparse triangle as the OpenCL device finds them, for study.ts beside this folder and for tests.
import type { SparseOperand } from "../../../arrays/operands.ts";
import type { Device, Work } from "../../device.ts";
import { inScope } from "../../deviceScope.ts";
import type { Levels } from "../../kernels.ts";
import { levelsOfRows, orderByLevels } from "./levels.ts";
import { SetupKernels } from "./setupKernels.ts";
import { compress, countLines, readTotals } from "./triangle.ts";
import { type LevelFinder, setupTuning } from "./tuning.ts";

/** The levels of a triangle of A by the device, to compare with those of src/routines/sparse/levels.ts and for the tables of the sparse paper. */
export function* levelsOn(device: Device, A: SparseOperand, uplo: "lower" | "upper", finder: LevelFinder): Work<Levels> {
  const triangle = { A, n: A.rows, upper: uplo === "upper", byRows: A.format === "csr", unit: true };
  return yield* inScope(device, "levels", function* (scope) {
    const setup = new SetupKernels(scope, triangle);
    const counts = countLines(setup, scope.vector(A.values));
    const rows = compress(setup, counts, (yield* readTotals(setup, counts)).entries, !triangle.byRows);
    const { count, starts, order } = orderByLevels(setup, yield* levelsOfRows(setup, rows, setupTuning(device, { finder })));
    const [ilev, jlev] = [new Int32Array(count + 1), new Int32Array(triangle.n)];
    yield device.read(starts, ilev);
    yield device.read(order, jlev);
    return { ilev, jlev };
  });
}
