// The statistics of the corpus: means, variances and covariances, and moments in any grouping with their bytes. Engines do not have them:
// unless the caller brings its own, the synchronous functions run on the calling thread.
import { Moments } from "../api/moments.ts";
import { excovariance, exmean, exvariance } from "../api/statistics.ts";
import type { CorpusRoutines, CorpusRow } from "./corpus.ts";
import type { Digest } from "./digest.ts";
import { type Inputs, KINDS, type Kind } from "./inputs.ts";
import { inBothFormats, LONG, LONG_KINDS } from "./level1.ts";

const LENGTHS = [0, 1, 2, 3, 4, 7, 33, 100, 400];
const DDOFS = [0, 1, 2];

/** Numbers next to each other, far from zero: their variance has none of their leading digits. */
function offset(inputs: Inputs, n: number): Float64Array {
  const base = 2 ** (inputs.format === "binary64" ? 50 : 22);
  return inputs.zeros(n).map(() => base + inputs.random.below(1000));
}

/** By hand: the ends of the range, ties, zeros of both signs, and what is not finite. */
function examples(inputs: Inputs): Float64Array[] {
  const ofDouble = inputs.format === "binary64";
  const max = ofDouble ? Number.MAX_VALUE : (2 - 2 ** -23) * 2 ** 127;
  const min = ofDouble ? Number.MIN_VALUE : 2 ** -149;
  const ulp = 2 ** (ofDouble ? -52 : -23);
  const [infinity, nan] = [Number.POSITIVE_INFINITY, Number.NaN];
  const lists = [
    ...[[-0], [-0, -0], [0, -0], [7], [max], [max, max], [max, -max], [-max, -max, -max], [max, max, -max], [max, min], [-max, 1]],
    ...[
      [min, 0],
      [min, -0],
      [min, 2 * min],
      [-min, -min, min],
      [min, min, min],
      [1, 1 + ulp],
      [1 + ulp, 1 + 2 * ulp],
    ],
    ...[
      [1, 1 + ulp, min, 0],
      [1, 1 + ulp, -min, 0],
      [0.1, 0.1, 0.1],
      [1 / ulp, 1, -1 / ulp],
      [1, 2, 4, 8],
    ],
    ...[[infinity], [-infinity, 1], [infinity, -infinity], [nan], [1, nan, 2], [infinity, nan, 0]],
  ];
  return lists.map((list) => {
    const x = inputs.zeros(list.length);
    x.set(list);
    return x;
  });
}

/** Vectors of every kind and length, and the examples. */
function* data(inputs: Inputs): Generator<Float64Array> {
  for (const n of LENGTHS) {
    for (const kind of KINDS) yield inputs.vector(n, kind);
    yield offset(inputs, n);
  }
  const x = inputs.vector(68, "wide");
  for (let from = 0; from < 4; from++) yield x.subarray(from, from + 64);
  yield* examples(inputs);
}

/** Weights for n numbers: positive, of both signs, zeros, not all finite; that sum to zero, and next to it. */
function* weights(inputs: Inputs, n: number, kind: Kind): Generator<Float64Array> {
  yield inputs.vector(n, "narrow").map(Math.abs);
  for (const own of [kind, "zeros", "special"] as const) yield inputs.vector(n, own);
  const w = inputs.vector(n, kind);
  for (let i = 0; i < n; i++) w[i] = 2 * i + 1 < n ? (w[i] as number) : 2 * i + 1 === n ? 0 : -(w[n - 1 - i] as number);
  yield w;
  const near = w.slice();
  if (n > 0) near[0] = (near[0] as number) * (1 - 2 ** -20);
  yield near;
}

/** A vector for covariances with x: another kind of numbers, or numbers that are close to x. */
function partner(inputs: Inputs, x: Float64Array, at: number): Float64Array {
  if (at % 3 > 0) return inputs.vector(x.length, KINDS[at % KINDS.length] as Kind);
  return x.map((v) => v + inputs.random.below(3));
}

// ---------------------------------------------------------------- means

const mean = inBothFormats(41, "exmean", (begin) => ({
  async short(routines, out) {
    for (const x of data(begin(0))) out.number(await (routines.exmean ?? exmean)(x));
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const kind of LONG_KINDS) for (const n of LONG) out.number(await (routines.exmean ?? exmean)(inputs.vector(n, kind)));
  },
  async large(routines, out) {
    for (const kind of ["wide", "cancelling"] as const) out.number(await (routines.exmean ?? exmean)(begin(2).vector(3_000_017, kind)));
  },
}));

const weighted = inBothFormats(42, "exmean, weighted", (begin) => {
  const each = async (routines: CorpusRoutines, out: Digest, inputs: Inputs, x: Float64Array, kind: Kind): Promise<void> => {
    for (const w of weights(inputs, x.length, kind)) out.number(await (routines.exmean ?? exmean)(x, w));
  };
  return {
    async short(routines, out) {
      const inputs = begin(0);
      for (const kind of KINDS) for (const n of LENGTHS) await each(routines, out, inputs, inputs.vector(n, kind), kind);
      for (const x of examples(inputs)) await each(routines, out, inputs, x, "bits");
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const kind of LONG_KINDS) await each(routines, out, inputs, inputs.vector(30_011, kind), kind);
    },
  };
});

// ---------------------------------------------------------------- variances

const variance = inBothFormats(43, "exvariance", (begin) => {
  const each = async (routines: CorpusRoutines, out: Digest, x: Float64Array): Promise<void> => {
    for (const ddof of DDOFS) out.number(await (routines.exvariance ?? exvariance)(x, ddof));
  };
  return {
    async short(routines, out) {
      for (const x of data(begin(0))) await each(routines, out, x);
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const n of LONG) {
        for (const kind of LONG_KINDS) await each(routines, out, inputs.vector(n, kind));
        await each(routines, out, offset(inputs, n));
      }
    },
    async large(routines, out) {
      await each(routines, out, offset(begin(2), 3_000_017));
    },
  };
});

const covariance = inBothFormats(44, "excovariance", (begin) => {
  const each = async (routines: CorpusRoutines, out: Digest, x: Float64Array, y: Float64Array): Promise<void> => {
    for (const ddof of DDOFS) out.number(await (routines.excovariance ?? excovariance)(x, y, ddof));
  };
  return {
    async short(routines, out) {
      const inputs = begin(0);
      let at = 0;
      for (const x of data(inputs)) await each(routines, out, x, partner(inputs, x, at++));
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const n of LONG) {
        for (const kind of LONG_KINDS) await each(routines, out, inputs.vector(n, kind), inputs.vector(n, kind));
        await each(routines, out, offset(inputs, n), offset(inputs, n));
      }
    },
  };
});

// ---------------------------------------------------------------- moments

function addMoments(out: Digest, moments: Moments): void {
  out.array(moments.toBytes());
  for (const format of ["binary64", "binary32"] as const) {
    out.number(moments.mean(format));
    for (const ddof of DDOFS) out.number(moments.variance(ddof, format));
  }
  out.number(moments.count);
}

// The whole, and its thirds merged from the left, from the right and by way of bytes.
function grouped(out: Digest, x: Float64Array): void {
  addMoments(out, new Moments().add(x));
  const third = Math.floor(x.length / 3);
  const [a, b, c] = [x.subarray(0, third), x.subarray(third, 2 * third + 1), x.subarray(2 * third + 1)];
  const of = (part: Float64Array): Moments => new Moments().add(part);
  addMoments(out, of(a).merge(of(b)).merge(of(c)));
  addMoments(out, of(a).merge(of(b).merge(of(c))));
  addMoments(out, Moments.fromBytes(of(c).toBytes()).merge(Moments.fromBytes(of(a).merge(of(b)).toBytes())));
}

const moments = inBothFormats(45, "Moments", (begin) => ({
  async short(_, out) {
    const inputs = begin(0);
    for (const kind of KINDS) for (const n of [0, 1, 2, 40, 200]) grouped(out, inputs.vector(n, kind));
    for (const x of examples(inputs)) grouped(out, x);
    const x = inputs.vector(30, "wide");
    const singly = new Moments();
    for (const v of x) addMoments(out, singly.add(v));
    for (let doubling = 0; doubling < 40; doubling++) singly.merge(singly); // a count past 2^32
    addMoments(out, singly.add(Float32Array.from(inputs.vector(9, "narrow"))));
    const bytes = singly.toBytes();
    for (const at of [0, 4, 8, 16, 20, bytes.length - 30, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 0x10;
      await out.outcome(async () => addMoments(out, Moments.fromBytes(damaged)));
    }
  },
  async full(_, out) {
    const inputs = begin(1);
    for (const kind of LONG_KINDS) grouped(out, inputs.vector(100_003, kind));
    grouped(out, offset(inputs, 100_003));
  },
}));

export const statistics: Readonly<Record<string, CorpusRow>> = { ...mean, ...weighted, ...variance, ...covariance, ...moments };
