import type { ApproximateFactors, ApproximateKernels, NextResidual } from "../../approximate.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { Choices } from "../choices.ts";
import { inScope, type Scope } from "../device/scope.ts";
import { onDevice, plainBy, type Steps, substitute } from "../solve/approximate.ts";
import type { Triangles } from "../solve/inverse.ts";
import { type ApproximateMatrix, BLOCK } from "../solve/lu.ts";
import { Residual } from "../solve/residual.ts";
import type { Sides } from "../solve/substitute.ts";
import type { Cpu } from "./cpu.ts";
import { eliminateWithCpu, type LookAhead } from "./factor.ts";
import { diagonalBlocks, moveBlock } from "./kernels.ts";
import { type Watch, watched } from "./phases.ts";
import { solveUpper, substituteWithCpu, timesInverse } from "./substitute.ts";

/** Who does what in a binary32 solve. Substitution for several right-hand sides is the GPU's, and so is all of binary64. */
export interface Sharing {
  /** Who factors panels; undefined for who is faster at it. */
  readonly panel: "cpu" | "gpu" | undefined;
  /** How many panels ahead of the rest are updated first, with panels on the CPU. */
  readonly lookAhead: LookAhead;
  /** Who does the products with diagonal blocks in forward substitution. */
  readonly forward: "cpu" | "gpu";
  /** Who solves with diagonal blocks in backward substitution. */
  readonly backward: "cpu" | "gpu";
  /** Told how long each phase took CPU and GPU; the device then notes when commands run, and each phase is waited for. */
  readonly watch?: Watch | undefined;
}

// What is fastest. On an H200 beside 16 cores that is the GPU alone, at every order: 64 columns of order 8192 take it 0.3 ms, their way
// to the CPU and back 0.7 and the threads there 4; a block of 128 unknowns takes it 2 microseconds, and 200 with the CPU.
function sharingOf({ panel, lookAhead = 1, forward = "gpu", backward = "gpu", watch }: Partial<Sharing> = {}): Sharing {
  return { panel, lookAhead, forward, backward, watch };
}

// Where the device is a CPU itself, its groups have no part in each other's panels: at n = 256 it makes no difference, at n = 512 and
// 1024 a solve with panels on the threads takes 0.6 of the time (PoCL, two cores).
const quicker = (device: Device, n: number): "cpu" | "gpu" => (device.type === "cpu" && n >= 512 ? "cpu" : "gpu");

/** The kernels of solve(); `run` does work at once, or gives a promise of its result. */
export function approximateWithCpu(
  run: (work: Work<unknown>) => unknown,
  device: Device,
  choices: Pick<Choices, "plain" | "solve">,
  cpu: Cpu,
): ApproximateKernels {
  const sharing = sharingOf(choices.solve);
  const call = (routine: string, work: (scope: Scope) => Work<void>) => run(inScope(device, routine, work)) as void | Promise<void>;
  const kernels = plainBy(run, device, choices.plain, shared(cpu, sharing));
  if (sharing.backward === "gpu") return kernels;
  return { ...kernels, refine: (routine, ...args) => call(routine, (scope) => refine(scope, cpu, sharing, ...args)) };
}

/** Called for a block of the unknowns in back substitution as soon as it is there. */
type Solved = (x: Float32Array, from: number, to: number) => void;

/** The steps of a solve by CPU and GPU together. */
function shared(cpu: Cpu, sharing: Sharing, solved?: Solved): Steps {
  const { panel, lookAhead, forward, backward, watch } = sharing;
  return {
    eliminate(scope, matrix, how) {
      const onCpu = (panel ?? quicker(scope.device, matrix.n)) === "cpu" && matrix.real === "float";
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

/** Substitution for one right-hand side, and the next residual in a line of commands of its own as blocks of x come. */
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
    const to = Math.min(end, x.length); // of the padding there is no need
    for (let j = from; j < to; j++) x[j] = found[j] as number;
    next.update(from, to);
    device.aside(() => residual.subtract(from, to));
  };
  yield* substitute(scope, factors, b, 1, x, shared(cpu, sharing, solved));
  if (factors.format === "binary64") {
    next.update(0, x.length);
    device.aside(() => residual.subtract(0, x.length));
  }
  device.follow(device.aside(() => device.mark()));
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
  const blocks = yield* diagonalHere(scope, factors, upper);
  const solve = upper ? solveUpper : timesInverse;
  const triangle = {
    ...{ matrix, step, n, lower: !upper, width: BLOCK },
    solve: (block: number, part: Float32Array) => solve(blocks.subarray(block * BLOCK * BLOCK), BLOCK, part),
  };
  const x = new Float32Array(n);
  yield* substituteWithCpu(device, cpu, triangle, v, to, x, (from, end) => solved?.(x, from, end));
}

// What the CPU needs of factors, fetched when it is first asked for: inverses of L's diagonal blocks, U's as they are.
const diagonals = new WeakMap<ApproximateMatrix, { lower?: Float32Array; upper?: Float32Array }>();

function* diagonalHere(scope: Scope, { matrix, inverses }: Triangles, upper: boolean): Work<Float32Array> {
  const { device } = scope;
  const here = diagonals.get(matrix) ?? {};
  diagonals.set(matrix, here);
  const known = upper ? here.upper : here.lower;
  if (known) return known;
  const { size: n, data, ld } = matrix;
  let from = inverses.lower;
  if (upper) {
    from = scope.scratch(4 * n * BLOCK);
    diagonalBlocks(device, [data, 0, ld], n, BLOCK, from);
  }
  const blocks = new Float32Array(n * BLOCK);
  yield device.read(from, blocks);
  here[upper ? "upper" : "lower"] = blocks;
  return blocks;
}
