// solve() with the work divided between CPU and GPU: the kernels of solve/approximate.ts, with panels or diagonal blocks on the CPU.
// Called by the engine; follows the mixed-precision paper.
import type { ApproximateFactors, ApproximateKernels, NextResidual } from "../../approximate.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { inScope, type Scope } from "../../deviceScope.ts";
import type { Choices } from "../choices.ts";
import { approximateKernels, onDevice, type Steps, substitute } from "../solve/approximate.ts";
import type { Triangles } from "../solve/inverse.ts";
import { type ApproximateMatrix, BLOCK } from "../solve/lu.ts";
import { Residual } from "../solve/residual.ts";
import type { Sides } from "../solve/substitute.ts";
import type { Cpu } from "./cpu.ts";
import { eliminateWithCpu, type LookAhead } from "./factor.ts";
import { diagonalBlocks, moveBlock } from "./kernels.ts";
import { type Watch, watched } from "./phases.ts";
import { solveUpper, substituteWithCpu, timesInverse } from "./substitute.ts";

/** How a binary32 solve is divided. The GPU does all of binary64, and substitution for several right-hand sides. */
export interface Sharing {
  /** Which one factors panels; default: the faster one. */
  readonly panel: "cpu" | "gpu" | undefined;
  /** With panels on the CPU: how many are updated ahead of the rest of the matrix. */
  readonly lookAhead: LookAhead;
  /** Which one multiplies by diagonal blocks in forward substitution. */
  readonly forward: "cpu" | "gpu";
  /** Which one solves with diagonal blocks in backward substitution. */
  readonly backward: "cpu" | "gpu";
  /** Called with the times of CPU and GPU in each phase. The device then records when commands run, and each phase is waited for. */
  readonly watch?: Watch | undefined;
}

// The fastest defaults. With an H200 and 16 cores the GPU alone is fastest at every order: it factors 64 columns of order 8192 in
// 0.3 ms, against 0.7 ms for the transfer to the CPU and back and 4 ms for the threads; a block of 128 unknowns takes it 2
// microseconds, and 200 with the CPU.
function sharingOf({ panel, lookAhead = 1, forward = "gpu", backward = "gpu", watch }: Partial<Sharing> = {}): Sharing {
  return { panel, lookAhead, forward, backward, watch };
}

// If the device is itself a CPU, one of its work-groups factors a panel alone: at n = 256 this makes no difference, at n = 512 and
// 1024 a solve with panels on the threads takes 0.6 of the time (PoCL, two cores).
const fasterForPanels = (device: Device, n: number): "cpu" | "gpu" => (device.type === "cpu" && n >= 512 ? "cpu" : "gpu");

/** The kernels of solve(). `run` runs work and returns its result or a promise of it. */
export function approximateWithCpu(
  run: (work: Work<unknown>) => unknown,
  device: Device,
  choices: Pick<Choices, "plain" | "solve">,
  cpu: Cpu,
): ApproximateKernels {
  const sharing = sharingOf(choices.solve);
  const call = (routine: string, work: (scope: Scope) => Work<void>) => run(inScope(device, routine, work)) as void | Promise<void>;
  const kernels = approximateKernels(run, device, choices.plain, shared(cpu, sharing));
  if (sharing.backward === "gpu") return kernels;
  return { ...kernels, refine: (routine, ...args) => call(routine, (scope) => refine(scope, cpu, sharing, ...args)) };
}

/** Called for each block of unknowns in back substitution as soon as it is solved. */
type Solved = (x: Float32Array, from: number, to: number) => void;

/** The steps of a solve, divided between CPU and GPU. */
function shared(cpu: Cpu, sharing: Sharing, solved?: Solved): Steps {
  const { panel, lookAhead, forward, backward, watch } = sharing;
  return {
    eliminate(scope, matrix, how) {
      const onCpu = (panel ?? fasterForPanels(scope.device, matrix.n)) === "cpu" && matrix.real === "float";
      const work = onCpu ? eliminateWithCpu(scope, cpu, matrix, how, lookAhead) : onDevice.eliminate(scope, matrix, how);
      return watched(scope.device, cpu, watch, "factorize", matrix.n, work);
    },
    substitute(scope, factors, upper, y, k, to) {
      const onCpu = (upper ? backward : forward) === "cpu" && factors.matrix.real === "float" && k === 1;
      const work = onCpu
        ? substituteOne(scope, cpu, factors, upper, y, to, upper ? solved : undefined)
        : onDevice.substitute(scope, factors, upper, y, k, to);
      return watched(scope.device, cpu, watch, upper ? "backward" : "forward", factors.matrix.n, work);
    },
  };
}

/** Substitution for one right-hand side, with the next residual on the second queue as blocks of x become known. */
function* refine(
  scope: Scope,
  cpu: Cpu,
  sharing: Sharing,
  factors: ApproximateFactors,
  b: Float64Array,
  x: Float64Array,
  next: NextResidual,
): Work<void> {
  const { device } = scope;
  const residual = new Residual(scope, next);
  const solved: Solved = (found, from, end) => {
    const to = Math.min(end, x.length); // without the padding
    for (let j = from; j < to; j++) x[j] = found[j] as number;
    next.update(from, to);
    device.onSecondQueue(() => residual.subtract(from, to));
  };
  yield* substitute(scope, factors, b, 1, x, shared(cpu, sharing, solved));
  if (factors.format === "binary64") {
    next.update(0, x.length);
    device.onSecondQueue(() => residual.subtract(0, x.length));
  }
  device.waitFor(device.onSecondQueue(() => device.event()));
  yield* residual.read();
}

function* substituteOne(
  scope: Scope,
  cpu: Cpu,
  factors: Triangles,
  upper: boolean,
  y: Sides,
  to: DeviceBuffer,
  solved: Solved | undefined,
): Work<void> {
  const { device } = scope;
  const { data: matrix, ld: step, size: n } = factors.matrix;
  const v = scope.scratch(4 * n);
  moveBlock(device, [y.buffer, y.offset, y.step], [v, 0, 1], n, 1);
  const blocks = yield* diagonalOnHost(scope, factors, upper);
  const solve = upper ? solveUpper : timesInverse;
  const triangle = {
    ...{ matrix, step, n, lower: !upper, width: BLOCK },
    solve: (block: number, part: Float32Array) => solve(blocks.subarray(block * BLOCK * BLOCK), BLOCK, part),
  };
  const x = new Float32Array(n);
  yield* substituteWithCpu(device, cpu, triangle, v, to, x, (from, end) => solved?.(x, from, end));
}

// The diagonal blocks that the CPU needs, fetched on first use: inverses of L's, U's unchanged.
const diagonals = new WeakMap<ApproximateMatrix, { lower?: Float32Array; upper?: Float32Array }>();

function* diagonalOnHost(scope: Scope, { matrix, inverses }: Triangles, upper: boolean): Work<Float32Array> {
  const { device } = scope;
  const fetched = diagonals.get(matrix) ?? {};
  diagonals.set(matrix, fetched);
  const known = upper ? fetched.upper : fetched.lower;
  if (known) return known;
  const { size: n, data, ld } = matrix;
  let from = inverses.lower;
  if (upper) {
    from = scope.scratch(4 * n * BLOCK);
    diagonalBlocks(device, [data, 0, ld], n, BLOCK, from);
  }
  const blocks = new Float32Array(n * BLOCK);
  yield device.read(from, blocks);
  fetched[upper ? "upper" : "lower"] = blocks;
  return blocks;
}
