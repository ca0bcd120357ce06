// The triangular solve of the OpenCL engine, kernel by kernel, with every choice of blocks.
import { afterAll, describe, expect, it } from "vitest";
import { SingularError } from "../../src/arrays/errors.ts";
import type { StridedMatrix, StridedOperand } from "../../src/arrays/matrix.ts";
import type { Operand } from "../../src/arrays/operands.ts";
import type { Real } from "../../src/arrays/types.ts";
import { DeviceArray } from "../../src/engines/deviceArray.ts";
import { inScope } from "../../src/engines/deviceScope.ts";
import type { ExactStage, Substitution } from "../../src/engines/kernels.ts";
import { type TrsvTuning, trsv, trsvBy, trsvTuning } from "../../src/engines/opencl/dense/trsv.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { runSync } from "../../src/engines/steps.ts";
import { illConditionedTriangular } from "../../src/index.ts";
import { kernels, Random } from "../../src/study.ts";
import { KINDS, type Kind, toSingle, vector } from "../generators.ts";
import { storedBits } from "../hex.ts";

const device = await openDevice().catch(() => undefined);
const reference = kernels("reference");
const SEED = 20250705;

const PLAIN: Substitution = { upper: false, unit: false, rounding: "single", refine: 0, refineBlocks: 0, blockSize: 0 };

/** T by rows or columns with `gap` unused elements between its lines, random from `random`; `of` says what entries are like. */
interface Layout {
  readonly byRows: boolean;
  readonly gap: number;
  readonly offset: number;
}
const LAYOUTS: readonly Layout[] = [
  { byRows: true, gap: 0, offset: 0 },
  { byRows: false, gap: 0, offset: 0 },
  { byRows: true, gap: 3, offset: 5 },
  { byRows: false, gap: 1, offset: 2 },
];

function triangle<V extends Operand>(data: V, n: number, { byRows, gap, offset }: Layout): StridedMatrix<V> {
  const step = n + gap;
  return { data, offset, rows: n, cols: n, rowStride: byRows ? step : 1, colStride: byRows ? 1 : step };
}

function elements(random: Random, count: number, kind: Kind | "mild", single: boolean): Real {
  const x = kind === "mild" ? Float64Array.from({ length: count }, () => random.word() / 2 ** 31) : vector(random, count, kind);
  return single ? toSingle(random, x) : x;
}

/** A system of one kind; `mild` ones grow slowly, so that all unknowns are ordinary numbers. */
function system(random: Random, n: number, kind: Kind | "mild", layout: Layout, single: boolean): { T: StridedMatrix; b: Real } {
  const data = elements(random, layout.offset + n * (n + layout.gap), kind, single);
  const b = elements(random, n, kind, single);
  const T = triangle(data, n, layout);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const at = T.offset + i * T.rowStride + j * T.colStride;
      const t = data[at] as number;
      if (kind === "mild") data[at] = i === j ? 1 + Math.abs(t) : t / 4;
      else if (i === j && t === 0) data[at] = 3;
    }
  return { T, b };
}

function onDevice(T: StridedOperand, b: Real, how: Substitution, tuning?: TrsvTuning): Real {
  const x = b.slice().fill(7);
  if (device) runSync(inScope(device, "extrsv", (scope) => trsv(scope, T, b, x, how, tuning)));
  return x;
}

function check(T: StridedMatrix, b: Real, how: Substitution, tuning?: TrsvTuning): void {
  const expected = b.slice();
  reference?.trsv(T, b, expected, how);
  expect(storedBits(onDevice(T, b, how, tuning))).toEqual(storedBits(expected));
}

describe.skipIf(!device)("a triangular solve on an OpenCL device", () => {
  afterAll(() => device?.close());
  const tuning = device ? trsvTuning(device) : undefined;

  it.each([1, 2, 31, 32, 33, 64, 65, 97, 161])("solves %i mild equations in all eight cases", (n) => {
    const random = new Random(SEED + n);
    for (const layout of LAYOUTS)
      for (const upper of [false, true])
        for (const unit of [false, true]) {
          const { T, b } = system(random, n, "mild", layout, false);
          check(T, b, { ...PLAIN, upper, unit });
        }
  });

  it.each(["single", "paper", "corrected"] as const)("rounds as %s says, whatever the entries are", (rounding) => {
    const random = new Random(SEED);
    for (const single of [false, true])
      for (const [index, kind] of (["mild", ...KINDS] as const).entries())
        for (const n of [1, 5, 33, 40]) {
          const layout = LAYOUTS[index % 2] as Layout;
          const { T, b } = system(random, n, kind, layout, single);
          const how = { ...PLAIN, rounding, upper: index % 3 === 0, unit: index % 5 === 4 };
          check(T, b, how);
        }
  });

  it("returns a solution that is representable, zeros among it, whatever cancels on the way", () => {
    const random = new Random(SEED);
    for (const upper of [false, true])
      for (const n of [33, 70]) {
        const { T } = system(random, n, "integers", LAYOUTS[0] as Layout, false);
        const solution = vector(random, n, "integers").map((v) => (v % 3 === 0 ? 0 : v % 1000));
        const b = new Float64Array(n);
        for (let i = 0; i < n; i++)
          for (let j = upper ? i : 0; j < (upper ? n : i + 1); j++) {
            const at = i * n + j;
            T.data[at] = (T.data[at] as number) % 1000 || 1;
            b[i] = (b[i] as number) + (T.data[at] as number) * (solution[j] as number);
          }
        expect([...onDevice(T, b, { ...PLAIN, upper })]).toEqual([...solution].map((v) => v + 0));
      }
  });

  it.each([1e8, 1e20, 1e40])("proves nothing that a condition of %d makes uncertain", (condition) => {
    for (const byRows of [true, false])
      for (const rounding of ["single", "paper", "corrected"] as const) {
        const { T, b } = illConditionedTriangular(70, condition, SEED);
        // The same numbers as columns are those of the transposed matrix, which is upper.
        check(triangle(T.data, 70, { byRows, gap: 0, offset: 0 }), b, { ...PLAIN, rounding, upper: !byRows });
      }
  });

  it("starts with zeros of the right-hand side", () => {
    const random = new Random(SEED);
    const { T, b } = system(random, 100, "mild", LAYOUTS[1] as Layout, false);
    b.fill(-0, 0, 50);
    check(T, b, PLAIN);
    check(T, b.fill(0), PLAIN);
  });

  it("refines the whole, and blocks of any size", () => {
    const random = new Random(SEED);
    for (const single of [false, true])
      for (const [refine, refineBlocks, blockSize, n] of [
        [1, 0, 0, 40],
        [3, 0, 64, 64],
        [0, 1, 7, 40],
        [2, 1, 33, 70],
        [1, 2, 1, 5],
        [0, 2, 64, 70],
      ] as const)
        for (const kind of ["mild", "wide", "special"] as const) {
          const { T, b } = system(random, n, kind, LAYOUTS[n % 2] as Layout, single);
          const how: Substitution = {
            ...PLAIN,
            upper: kind === "wide",
            unit: kind === "special",
            rounding: "paper",
            refine,
            refineBlocks,
            blockSize,
          };
          check(T, b, how);
        }
  });

  it.each([
    [1, 1, 1],
    [4, 2, 1],
    [16, 16, 2],
    [32, 1, 1],
    [32, 32, 4],
    [64, 4, 1],
  ])("may be cut into blocks of %i rows with %i work-items each", (block, slots, depth) => {
    const random = new Random(SEED);
    for (const layout of LAYOUTS.slice(0, 2)) {
      const { T, b } = system(random, 2 * block + 75, "mild", layout, false);
      check(T, b, PLAIN, { block, slots, depth, spins: 1 << 28 });
    }
  });

  it("goes block by block where groups cannot wait for each other", () => {
    if (!tuning) return;
    const random = new Random(SEED);
    for (const layout of LAYOUTS.slice(0, 2)) {
      const { T, b } = system(random, 150, "mild", layout, false);
      check(T, b, { ...PLAIN, refine: 1 }, { ...tuning, spins: 0 });
    }
  });

  it.each(["superaccumulator", "fpe2", "fpe3", "fpe4", "fpe6", "fpe8", "fpe6ee"] as const satisfies readonly ExactStage[])(
    "gives the same bits by %s alone",
    (stage) => {
      if (!device) return;
      const random = new Random(SEED);
      for (const [index, kind] of (["mild", ...KINDS] as const).entries()) {
        const { T, b } = system(random, 70, kind, LAYOUTS[index % 4] as Layout, false);
        const how: Substitution = { ...PLAIN, upper: index % 2 === 1, unit: index % 3 === 2, refine: index === 0 ? 1 : 0 };
        const [x, expected] = [b.slice(), b.slice()];
        runSync(inScope(device, "extrsv", (scope) => trsvBy(scope, stage, T, b, x, how)));
        reference?.trsv(T, b, expected, how);
        expect(storedBits(x)).toEqual(storedBits(expected));
      }
      const { T, b } = system(random, 40, "mild", LAYOUTS[0] as Layout, true);
      const [x, expected] = [b.slice(), b.slice()];
      runSync(inScope(device, "extrsv", (scope) => trsvBy(scope, stage, T, b, x, { ...PLAIN, rounding: "paper" })));
      reference?.trsv(T, b, expected, { ...PLAIN, rounding: "paper" });
      expect(storedBits(x)).toEqual(storedBits(expected));
    },
  );

  it("finds zeros on the diagonal of a matrix that is on the device", () => {
    if (!device) return;
    const n = 70;
    const data = new Float64Array(n * n).fill(1);
    const buffer = device.allocate("test", data.byteLength);
    const b = new Float64Array(n).fill(1);
    try {
      data[40 * (n + 1)] = -0;
      data[60 * (n + 1)] = 0;
      device.write(buffer, data);
      for (const upper of [false, true]) {
        const T = triangle(DeviceArray.like(data, data.length, buffer), n, LAYOUTS[0] as Layout);
        expect(() => onDevice(T, b, { ...PLAIN, upper })).toThrow(
          new SingularError("extrsv: entry (40, 40) of T is 0, expected a diagonal without zeros", 40),
        );
        expect(onDevice(T, b, { ...PLAIN, upper, unit: true })[upper ? n - 1 : 0]).toBe(1);
      }
    } finally {
      buffer.free();
    }
  });

  it("takes vectors that are on the device, and leaves the solution there", () => {
    if (!device) return;
    const random = new Random(SEED);
    const n = 50;
    const { T, b } = system(random, n, "mild", LAYOUTS[0] as Layout, true);
    const buffers = [b, b].map((v) => device.allocate("test", v.byteLength));
    const [from, to] = buffers as [(typeof buffers)[0], (typeof buffers)[0]];
    try {
      device.write(from, b);
      runSync(inScope(device, "extrsv", (scope) => trsv(scope, T, DeviceArray.like(b, n, from), DeviceArray.like(b, n, to), PLAIN)));
      const x = b.slice();
      device.read(to, x).now?.();
      expect(storedBits(x)).toEqual(storedBits(onDevice(T, b, PLAIN)));
    } finally {
      for (const buffer of buffers) buffer.free();
    }
  });
});
