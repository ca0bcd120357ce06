// The kernels for vectors and those for matrices are two modules over one memory, each with its own knowledge of which digits of the
// superaccumulator are not zero: whichever comes next must find them as it left them.
import { describe, expect, test } from "vitest";
import { reference } from "../../src/engines/reference/index.ts";
import { load } from "../../src/engines/wasm/load.ts";
import { illConditionedDot, matrix } from "../../src/index.ts";
import { routines } from "../../src/routines/routines.ts";
import { storedBits } from "../hex.ts";

const right = routines(() => reference);

describe.each(["fma", "dekker"] as const)("wasm-%s", (variant) => {
  test("vectors and matrices take turns, each far from where the other left its digits", () => {
    const kernels = load(variant);
    if (!kernels) throw new Error(`this machine cannot run wasm-${variant}`);
    const ours = routines(() => kernels);
    for (let turn = 0; turn < 40; turn++) {
      const { x, y } = illConditionedDot(100, 1e40, turn + 1); // nothing but the exact stages decides it
      const scale = 2 ** (((turn * 97) % 800) - 400);
      const u = x.map((v) => v * scale);
      const row = matrix(turn % 2 === 0 ? y : u, 1, 100);
      expect(storedBits(ours.exgemv(1, row, turn % 2 === 0 ? u : y, 0, new Float64Array(1)))).toEqual(
        storedBits(right.exgemv(1, row, turn % 2 === 0 ? u : y, 0, new Float64Array(1))),
      );
      expect(ours.exdot(x, y)).toBe(right.exdot(x, y));
      expect(ours.exsum(u)).toBe(right.exsum(u));
    }
  });
});
