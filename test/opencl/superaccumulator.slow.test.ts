// The pieces that every kernel shares: superaccumulator.cl rounds and divides as the host does, in private memory and in
// memory that several work-items add to; what certificate.cl proves is right.
import { afterAll, describe, expect, test } from "vitest";
import type { Format, Real } from "../../src/arrays/types.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { certificate, superaccumulator } from "../../src/engines/opencl/exact/sources.ts";
import { quotient } from "../../src/exact/substitution.ts";
import { Random, Superaccumulator } from "../../src/study.ts";
import { KINDS, toSingle, vector } from "../generators.ts";

const SEED = 5;
const SINGLE = 0;
const ROUND = 1;
const PAPER = 2;
const CORRECTED = 3;
const ALL = [SINGLE, ROUND, PAPER, CORRECTED];
const TERMS = 8; // products of one case, and as many numbers
const here = await openDevice().catch((error: Error) => error.message);

const PRIVATE = `__kernel void entries(__global const REAL *x, __global const REAL *y, __global const REAL *z, __global const REAL *d, int kind, __global REAL *out) {
  int me = get_global_id(0);
  long acc[ACCUMULATOR];
  for (int k = 0; k < ACCUMULATOR; k++) acc[k] = 0;
  for (int t = me * ${TERMS}; t < (me + 1) * ${TERMS}; t++) {
    addProduct(acc, x[t], y[t]);
    addNumber(acc, z[t]);
  }
  put(out + me, exactEntry(acc, kind, d[me]));
}`;

// One work-group for STRIDE cases, whose digits lie side by side.
const LOCAL = `__kernel void entries(__global const REAL *x, __global const REAL *y, __global const REAL *z, __global const REAL *d, int kind, __global REAL *out) {
  __local long pool[ACCUMULATOR * STRIDE];
  int me = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * STRIDE;
  for (int k = me; k < ACCUMULATOR * STRIDE; k += size) pool[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = me; t < STRIDE * ${TERMS}; t += size) {
    int at = first * ${TERMS} + t;
    addProduct(pool + t / ${TERMS}, x[at], y[at]);
    addNumber(pool + t / ${TERMS}, z[at]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < STRIDE) put(out + first + me, exactEntry(pool + me, kind, d[first + me]));
}`;

const PROOFS = `__kernel void proofs(__global const double *high, __global const double *low, __global const double *bound, __global const REAL *d, int kind, __global double *out) {
  int me = get_global_id(0);
  out[me] = certifiedEntry(high[me], low[me], bound[me], kind, d[me]);
}`;

describe.skipIf(typeof here === "string")(`on a device${typeof here === "string" ? ` (${here})` : ""}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());

  function run(
    name: string,
    sources: string[],
    defines: Record<string, string | number>,
    groups: number,
    group: number,
    inputs: Real[],
    kind: number,
    out: Real,
  ) {
    const kernel = device.kernel(name, sources, defines);
    const buffers = [...inputs, out].map((v) => {
      const buffer = device.allocate("test", v.byteLength);
      device.write(buffer, v);
      return buffer;
    });
    device.launch(kernel, [groups], [group], [...buffers.slice(0, -1), kind, buffers.at(-1) as (typeof buffers)[0]]);
    device.read(buffers.at(-1) as (typeof buffers)[0], out).now?.();
    for (const buffer of buffers) buffer.free();
  }

  /** What SPEC.md makes of a sum, which is lost. */
  function entry(sum: Superaccumulator, kind: number, d: number, format: Format): number {
    if (kind === ROUND) return sum.round("nearest", format);
    if (kind === SINGLE || sum.special() !== undefined) return quotient(sum, d, format);
    const s = sum.round("nearest", format);
    const q = quotient(new Superaccumulator().add(s), d, format);
    if (kind === PAPER) return q;
    return new Superaccumulator()
      .add(q)
      .add(quotient(sum.add(-s), d, format))
      .round("nearest", format);
  }

  const single = (random: Random, x: Float64Array, yes: boolean): Real => (yes ? toSingle(random, x) : x);
  const few = (random: Random, x: Real): void => {
    for (let t = 0; t < x.length; t++) if (random.below(2)) x[t] = 0;
  };
  const divisor = (random: Random, format: Format): number => {
    const v = single(
      random,
      vector(random, 1, KINDS[random.below(KINDS.length)] as (typeof KINDS)[number]),
      format === "binary32",
    )[0] as number;
    return v === 0 ? 3 : v;
  };

  // Sums of all kinds; sums whose quotient by d is a middle between two numbers, or next to one; cancelling ones.
  function cases(random: Random, count: number, format: Format): { x: Real; y: Real; z: Real; d: Real } {
    const yes = format === "binary32";
    const [x, y, z] = [0, 1, 2].map(() => (yes ? new Float32Array(count * TERMS) : new Float64Array(count * TERMS))) as [Real, Real, Real];
    const d = yes ? new Float32Array(count) : new Float64Array(count);
    for (let c = 0; c < count; c++) {
      const kind = () => KINDS[random.below(KINDS.length)] as (typeof KINDS)[number];
      const [a, b, n] = [kind(), kind(), kind()].map((k) => single(random, vector(random, TERMS, k), yes)) as [Real, Real, Real];
      for (const v of [a, b, n]) few(random, v);
      d[c] = divisor(random, format);
      const which = random.below(4);
      if (which === 0) b.fill(0);
      if (which === 1) n.fill(0);
      if (which === 2) {
        // (2 m + 1) 2^k d, in three parts, and perhaps a little more: half a last place for an m of as many bits as there are
        a.fill(0);
        n.fill(0);
        const k = random.below(3) === 0 ? (yes ? -150 : -1075) : -random.below(60);
        const half = 2 ** Math.max(k, yes ? -149 : -1074); // below the smallest number the middle is made by two factors
        const m = yes ? (1 << 23) + random.below(1 << 23) : 2 ** 52 + random.below(2 ** 30) * 2 ** 22 + random.below(2 ** 22);
        d[c] = (1 + random.below(1 << 20)) * 2 ** (random.below(20) - (k < -100 ? 0 : 30));
        a[0] = half * (random.below(4) ? m : random.below(8));
        b[0] = 2 * (d[c] as number);
        a[1] = half;
        b[1] = d[c] as number;
        if (half !== 2 ** k) b[0] = (b[0] as number) / 2;
        if (half !== 2 ** k) b[1] = (b[1] as number) / 2;
        if (random.below(2)) a[0] = -(a[0] as number);
        if (random.below(2)) n[2] = (random.below(2) ? 1 : -1) * 2 ** (yes ? -149 : -1074);
      }
      if (which === 3) for (let t = 4; t < 8; t++) [a[t], b[t], n[t]] = [-(a[t - 4] as number), b[t - 4] as number, -(n[t - 4] as number)];
      x.set(a, c * TERMS);
      y.set(b, c * TERMS);
      z.set(n, c * TERMS);
    }
    return { x, y, z, d };
  }

  const spaces = [
    { space: "private", source: PRIVATE, stride: 1, defines: { SPACE_IS_PRIVATE: 1 } },
    { space: "local", source: LOCAL, stride: 1, defines: {} },
    { space: "local, interleaved", source: LOCAL, stride: 16, defines: { STRIDE: 16 } },
  ];
  const formats = ["binary64", "binary32"] as const;

  test.each(spaces.flatMap((space) => formats.map((format) => ({ ...space, format }))))(
    "sums in $space memory become the entries of the host, in $format",
    ({ source, stride, defines, format }) => {
      const random = new Random(SEED);
      const count = 1600;
      const { x, y, z, d } = cases(random, count, format);
      const [group, groups] = source === PRIVATE ? [16, count / 16] : [32, count / stride];
      for (const kind of ALL) {
        const out = format === "binary64" ? new Float64Array(count) : new Float32Array(count);
        const all = { REAL: format === "binary64" ? "double" : "float", ...defines };
        run("entries", [certificate, superaccumulator, source], all, groups, group, [x, y, z, d], kind, out);
        for (let c = 0; c < count; c++) {
          const sum = new Superaccumulator();
          for (let t = c * TERMS; t < (c + 1) * TERMS; t++) sum.addProduct(x[t] as number, y[t] as number).add(z[t] as number);
          const wanted = entry(sum, kind, d[c] as number, format);
          if (Object.is(out[c], wanted)) continue;
          const terms = [x, y, z].map((v) => v.slice(c * TERMS, (c + 1) * TERMS).join(" "));
          expect(out[c], `seed ${SEED}, case ${c}, kind ${kind}: ${terms.join(" | ")} by ${d[c]}`).toBe(wanted);
        }
      }
    },
  );

  test.each(formats)("what is certified is what every sum within the bound becomes, in %s", (format) => {
    const random = new Random(SEED + 1);
    const count = 20_000;
    const yes = format === "binary32";
    const [high, low, bound] = [0, 1, 2].map(() => new Float64Array(count)) as [Float64Array, Float64Array, Float64Array];
    const d = yes ? new Float32Array(count) : new Float64Array(count);
    for (let c = 0; c < count; c++) {
      const kind = KINDS[random.below(KINDS.length)] as (typeof KINDS)[number];
      let h = vector(random, 1, random.below(4) ? "narrow" : kind)[0] as number;
      if (yes && random.below(2)) h = (Math.fround(h) * (1 + 2 ** -24) || h) * 1;
      high[c] = h;
      const small = h * 2 ** -(53 + random.below(60));
      low[c] = random.below(5) === 0 ? 0 : random.below(4) ? small * random.signed() : h * 2 ** -53 * (random.below(2) ? 1 : -0.5);
      bound[c] = random.below(3) === 0 ? 0 : Math.abs(small * random.signed()) * 2 ** (5 - random.below(40));
      d[c] = divisor(random, format);
    }
    for (const kind of ALL) {
      const out = new Float64Array(count);
      run("proofs", [certificate, PROOFS], { REAL: yes ? "float" : "double" }, count / 16, 16, [high, low, bound, d], kind, out);
      let proved = 0;
      for (let c = 0; c < count; c++) {
        if (Number.isNaN(out[c])) continue;
        proved++;
        for (const theta of [-1, -0.5, 0, 0.5, 1]) {
          const sum = new Superaccumulator()
            .add(high[c] as number)
            .add(low[c] as number)
            .addProduct(bound[c] as number, theta);
          const wanted = entry(sum, kind, d[c] as number, format);
          const what = `seed ${SEED + 1}, case ${c}, kind ${kind}: ${high[c]} + ${low[c]} by ${d[c]}, bound ${bound[c]}`;
          if (!Object.is(out[c], wanted)) expect(out[c], what).toBe(wanted);
        }
      }
      expect(proved).toBeGreaterThan(count / 10);
    }
  });
});
