// The types of an engine. Most of this is checked by the compiler (`npm run lint`), and runs to be sure that it is true.
import { expect, expectTypeOf, test } from "vitest";
import { type Accumulator, type BatchLU, type Engine, type Matrix, matrix, open, type Resident } from "../../src/index.ts";

test("an engine takes arrays and residents of both precisions, and returns what it was given to write", async () => {
  await using engine: Engine = await open("threads", { threads: 2 });
  const A = matrix(Float64Array.of(1, 2, 3, 4), 2, 2);
  const S = matrix(Float32Array.of(1, 2, 3, 4), 2, 2);
  const [x, s] = [Float64Array.of(1, 1), Float32Array.of(1, 1)];

  const y = await engine.exgemv(1, A, x, 0, new Float64Array(2));
  expectTypeOf(y).toExtend<Float64Array>();
  expect(y).toEqual(Float64Array.of(3, 7));
  const z = await engine.exgemv(1, S, s, 0, new Float32Array(2), { trans: true });
  expectTypeOf(z).toExtend<Float32Array>();
  expect(z).toEqual(Float32Array.of(4, 6));

  const [rA, rx, rs] = [await engine.upload(A), await engine.upload(x), await engine.upload(s)];
  expectTypeOf(rA).toExtend<Resident<Matrix>>();
  expectTypeOf(rx).toExtend<Resident<Float64Array>>();
  expectTypeOf(rs).toExtend<Resident<Float32Array>>();
  expectTypeOf(await rA.read()).toExtend<Matrix<Float64Array>>();
  expectTypeOf(await rs.read()).toExtend<Float32Array>();
  const ry = await engine.upload(new Float64Array(2));
  const written = await engine.exgemv(1, rA, rx, 0, ry);
  expectTypeOf(written).toExtend<Resident<Float64Array>>();
  expect(written).toBe(ry);
  expectTypeOf(await engine.exgemv(1, rA, x, 0, y)).toExtend<Float64Array>();
  expectTypeOf(await engine.exgemm(1, rA, A, 0, matrix(new Float64Array(4), 2, 2))).toExtend<Matrix>();
  expectTypeOf(await engine.exscal(2, rx)).toExtend<Resident<Float64Array>>();
  expectTypeOf(await engine.exaxpy(2, s, rs)).toExtend<Resident<Float32Array>>();

  expectTypeOf(await engine.exsum(x)).toEqualTypeOf<number>();
  expectTypeOf(await engine.exdot(rs, s, { round: "up" })).toEqualTypeOf<number>();
  expectTypeOf(await engine.extrsv(rA, rx, { uplo: "upper" })).toExtend<Float64Array>();
  expectTypeOf(await engine.extrsv(S, rs)).toExtend<Float32Array>();
  expectTypeOf(await engine.accumulate(x, s)).toEqualTypeOf<Accumulator>();
  expectTypeOf(await engine.exluBatch(s, 1, 2)).toExtend<BatchLU<Float32Array>>();

  const factors = await engine.exlu(rA);
  expectTypeOf(factors.lu).toExtend<Matrix>();
  expectTypeOf(factors.pivots).toExtend<Int32Array>();
  expectTypeOf(await factors.solve(x, { refine: 1 })).toExtend<Float64Array>();
  expectTypeOf(await factors.solve(rx)).toExtend<Float64Array>();
  const single = await engine.exlu(S);
  expectTypeOf(await single.solve(s)).toExtend<Float32Array>();

  expectTypeOf(engine.kind).toEqualTypeOf<"wasm" | "threads" | "opencl" | "webgpu">();
  expectTypeOf(engine.close).returns.toEqualTypeOf<Promise<void>>();

  // Precisions are never mixed.
  // @ts-expect-error
  await expect(engine.exgemv(1, A, s, 0, y)).rejects.toThrow("binary32");
  // @ts-expect-error
  await expect(engine.exgemv(1, rA, rs, 0, y)).rejects.toThrow("binary32");
  // @ts-expect-error
  await expect(engine.exdot(x, s)).rejects.toThrow("binary32");
  // @ts-expect-error
  await expect(engine.extrsv(rx, x)).rejects.toThrow("extrsv");
});
