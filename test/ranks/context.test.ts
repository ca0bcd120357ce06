// How calls of all ranks begin and fail (src/ranks/context.ts), with several contexts in this process and no MPI.
import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/engines/backend.ts";
import { Context, type Prepared, together } from "../../src/ranks/context.ts";
import { rankReductions } from "../../src/ranks/level1.ts";
import type { Communicator } from "../../src/ranks/mpi/communicator.ts";
import { hashOf } from "../../src/ranks/replicated.ts";

type Exchange = "sum" | "gather";
interface Meeting {
  readonly kind: Exchange;
  readonly parts: (() => ArrayBufferView)[];
  readonly done: (() => void)[];
}

// Collective exchanges among contexts of this process: the k-th of each rank meets the k-th of the others, which must be of its kind.
function communicators(size: number): Communicator[] {
  const meetings: Meeting[] = [];
  return Array.from({ length: size }, (_, rank) => {
    let next = 0;
    const meet = (kind: Exchange, part: ArrayBufferView, use: (parts: ArrayBufferView[]) => void) => {
      const k = next++;
      meetings[k] ??= { kind, parts: [], done: [] };
      const meeting = meetings[k];
      if (meeting.kind !== kind) throw new Error(`rank ${rank} makes a ${kind} where others make a ${meeting.kind}`);
      const copy = structuredClone(part);
      meeting.parts[rank] = () => copy;
      meeting.done.push(() => use(meeting.parts.map((each) => each())));
      const everybody = new Promise<void>((resolve) => {
        meeting.done.push(resolve);
        if (meeting.done.length === 2 * size) for (const each of meeting.done) each();
      });
      return { wait: () => everybody };
    };
    return {
      rank,
      size,
      sum: (words: BigInt64Array) =>
        meet("sum", words, (parts) => {
          for (const i of words.keys()) words[i] = (parts as BigInt64Array[]).reduce((total, each) => total + (each[i] as bigint), 0n);
        }),
      gatherAll: (part: ArrayBufferView, all: ArrayBufferView) =>
        meet("gather", part, (parts) => {
          for (const [r, each] of parts.entries())
            new Uint8Array(all.buffer, all.byteOffset + r * part.byteLength).set(new Uint8Array(each.buffer, 0, part.byteLength));
        }),
      close: async () => undefined,
    } as unknown as Communicator;
  });
}

const backend = { kind: "wasm", close: async () => undefined } as unknown as Backend;
const contexts = (size: number, engine = backend) => communicators(size).map((comm) => new Context(comm, engine));
const settled = async (calls: Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((each) => (each.status === "fulfilled" ? each.value : each.reason));
const nothing: Prepared<string> = { facts: {}, body: () => "done" };

describe("calls of all ranks", { timeout: 20_000 }, () => {
  test("facts that differ are named with their ranks, and the next call works", async () => {
    const all = contexts(5);
    const call = (value: (rank: number) => number) =>
      settled(all.map((context, rank) => context.call("f", () => ({ ...nothing, facts: { value: value(rank) } }))));
    for (const error of await call((rank) => (rank === 3 ? 8 : rank === 1 ? 9 : 7)))
      expect(error).toMatchObject({
        name: "ShapeError",
        message: "f: rank 1 called f(value 9), rank 3 called f(value 8), expected f(value 7) as on ranks 0, 2 and 4",
      });
    expect(await call(() => 1)).toEqual(Array(5).fill("done"));
  });

  test("any two numbers of a fact are told apart", async () => {
    const all = contexts(2);
    for (let k = 0; k < 500; k++) {
      const results = await settled(all.map((context, rank) => context.call("f", () => ({ ...nothing, facts: { k: k + rank * 1000 } }))));
      for (const each of results) expect(each).toMatchObject({ name: "ShapeError" });
    }
  });

  test("a payload that fails on one rank is a refusal on all", async () => {
    const all = contexts(3);
    const failing = (rank: number): Prepared<string> => ({
      ...nothing,
      async payload(halves) {
        halves.fill(5);
        if (rank === 1) throw new RangeError("no memory");
      },
    });
    const results = await settled(all.map((context, rank) => context.call("f", () => failing(rank))));
    expect(results.map((each) => `${each.name}: ${each.message}`)).toEqual([
      "ShapeError: f: rank 1 refused its arguments: no memory",
      "RangeError: no memory",
      "ShapeError: f: rank 1 refused its arguments: no memory",
    ]);
    expect(await settled(all.map((context) => context.call("g", () => nothing)))).toEqual(Array(3).fill("done"));
  });

  test("an engine that fails while an earlier call is under way fails its own call only", async () => {
    const failing = { ...backend, kind: "threads", accumulate: () => Promise.reject(new RangeError("lost")) } as unknown as Backend;
    const [context] = contexts(1, failing) as [Context];
    const slow = context.call("slow", () => ({ ...nothing, body: () => new Promise((resolve) => setTimeout(resolve, 20, "slow")) }));
    const sum = rankReductions(context).exsum(Float64Array.of(1));
    expect(await settled([slow, sum])).toEqual(["slow", new RangeError("lost")]);
  });

  test("whatever is thrown reaches the rank that threw it, also on one rank", async () => {
    for (const thrown of [undefined, null, 0, "text"])
      for (const size of [1, 2]) {
        const refuse = (): never => {
          throw thrown;
        };
        const results = await settled(contexts(size).map((context, rank) => context.call("f", () => (rank === 0 ? refuse() : nothing))));
        expect(results[0]).toBe(thrown);
        if (size === 2) expect(results[1]).toMatchObject({ message: `f: rank 0 refused its arguments: ${thrown}` });
      }
  });

  test("long descriptions that begin alike are told apart", async () => {
    const long = "é".repeat(1000);
    const results = await settled(
      contexts(3).map((context, rank) => context.call("f", () => ({ ...nothing, facts: { path: `${long}${rank === 2 ? 1 : 2}` } }))),
    );
    for (const error of results)
      expect(error.message).toMatch(/^f: rank 2 called f\(path é+\.\.\. \(hash \w+\), expected .* as on ranks 0 and 1$/);
  });

  test("together() fails on all ranks if it fails on one", async () => {
    const all = contexts(3);
    const run = (bad: (rank: number) => boolean) =>
      settled(
        all.map((context, rank) =>
          together(context, "f", () => {
            if (bad(rank)) throw new RangeError(`rank ${rank}`);
            return rank;
          }),
        ),
      );
    const messages = async (results: ReturnType<typeof run>) => (await results).map((each) => each.message ?? each);
    expect(await messages(run(() => false))).toEqual([0, 1, 2]);
    expect(await messages(run((rank) => rank > 0))).toEqual(["f: rank 1 failed", "rank 1", "rank 2"]);
  });

  test("calls are made in the order in which they were asked for", async () => {
    const [context] = contexts(1) as [Context];
    const order: number[] = [];
    const call = (k: number, ms: number) =>
      context.call("f", () => ({ ...nothing, body: () => new Promise((resolve) => setTimeout(() => resolve(order.push(k)), ms)) }));
    await Promise.all([call(0, 20), call(1, 0), call(2, 5)]);
    expect(order).toEqual([0, 1, 2]);
  });
});

test("vectors of small integers, signs and permutations have different hashes", () => {
  const hashes = new Set<number>();
  let count = 0;
  for (let k = 0; k < 3 ** 9; k++) {
    hashes.add(hashOf(Float64Array.from({ length: 9 }, (_, i) => Math.floor(k / 3 ** i) % 3)));
    hashes.add(hashOf(Float64Array.from({ length: 9 }, (_, i) => [-1, -0, 1][Math.floor(k / 3 ** i) % 3] as number)));
    count += 2;
  }
  expect(count - hashes.size).toBeLessThan(3); // of 39,366 random hashes 0.18 pairs are equal on average
});
