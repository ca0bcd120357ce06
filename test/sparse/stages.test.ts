// Sparse solves by every stage alone, on the synchronous kernels: the bits, and that the stage asked for does the work.
import { describe, expect, test } from "vitest";
import { csr, extrsv, matrix } from "../../src/index.ts";
import { Random, routinesBy, STAGES } from "../../src/study.ts";
import { KERNELS } from "../kernels.ts";

// A lower triangle with entries of very different sizes.
const random = new Random(7);
const n = 40;
const dense = new Float64Array(n * n);
for (let i = 0; i < n; i++) {
  for (let j = 0; j < i; j++) if (random.signed() < 0.2) dense[i * n + j] = random.signed() * 2 ** Math.round(60 * random.signed());
  dense[i * n + i] = random.signed();
}
const stored = Array.from(dense.keys()).filter((k) => dense[k] !== 0);
const pointers = Int32Array.from({ length: n + 1 }, (_, i) => stored.filter((k) => k < i * n).length);
const L = csr(
  n,
  n,
  pointers,
  Int32Array.from(stored, (k) => k % n),
  Float64Array.from(stored, (k) => dense[k] as number),
);
const b = Float64Array.from({ length: n }, () => random.signed());

describe.each(KERNELS)("$name", ({ engine }) => {
  test.each(STAGES)("a sparse solve by %s", (stage) => {
    let asked = 0;
    const counting = new Proxy(engine, {
      get(_, name: keyof typeof engine) {
        const member = engine[name];
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (name.startsWith("accumulate")) asked++;
          return (member as (...args: unknown[]) => unknown).apply(engine, args);
        };
      },
    });
    expect(routinesBy(stage, counting).sptrsv(L).solve(b)).toEqual(extrsv(matrix(dense, n, n), b));
    expect(asked).toBe(stage === "certified" ? 0 : n);
  });
});
