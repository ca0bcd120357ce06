// A worker that dies, or memory that is refused, during a sparse solve: that call fails and has written nothing; the others,
// the plan and the next solve with it work.
import { afterEach, describe, expect, test } from "vitest";
import { JOB_DONE, JOB_SIZE, JOB_Y } from "../../src/engines/wasm/assembly/layout.ts";
import { Job } from "../../src/engines/wasm/jobs/job.ts";
import { sptrsvBytes, sptrsv as sptrsvJob } from "../../src/engines/wasm/jobs/sparse.ts";
import { Space } from "../../src/engines/wasm/space.ts";
import { EngineError, laplacian } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SCHEDULES, SCHEDULES_AND_AUTO } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { range } from "../oracles/matrices.ts";
import { exactly } from "../oracles/sparse.ts";
import { hesitant, type Mortal, openMortal } from "../threads/mortal.ts";
import { same } from "./checks.ts";

const random = new Random(13);
const some = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let mortal: Mortal;
afterEach(() => mortal?.engine.close());

const A = laplacian(40, 30, 2);
const n = A.rows;
const b = some(n);
const want = exactly(A, b, {}, "binary64");

describe("a worker that dies during a solve", () => {
  test.each(SCHEDULES_AND_AUTO.flatMap((schedule) => ([0, 3] as const).map((worker) => [worker, schedule] as const)))(
    "worker %i, %s: the solve fails, those in line and the next one do not",
    async (worker, schedule) => {
      // It hesitates before it begins, and is ended meanwhile; the others are at work, done, or wait for it.
      mortal = await openMortal(4, hesitant(worker));
      const plan = await mortal.engine.sptrsv(A, { schedule });
      const out = new Float64Array(n).fill(7);
      const all = Promise.allSettled([plan.solve(b, out), ...range(5).map(() => plan.solve(b))]);
      await soon(20);
      await mortal.workers[worker]?.terminate();
      const [failed, ...queued] = await all;
      expect(failed).toMatchObject({ status: "rejected", reason: expect.any(EngineError) });
      expect((failed as PromiseRejectedResult).reason.message).toBe("threads: a worker died during the call: it exited");
      expect(out.every((v) => v === 7)).toBe(true);
      for (const result of queued) same((result as PromiseFulfilledResult<Float64Array>).value, want, "in line");
      same(await plan.solve(b, out), want, "the next one");
      await plan.update(A.values.map((v) => 2 * v));
      same(await plan.solve(b.map((v) => 2 * v)), want, "after an update");
      await plan.free();
      expect(mortal.pool.arena.isEmpty()).toBe(true);
    },
  );

  test.each(SCHEDULES.filter((schedule) => schedule !== "serial"))(
    "%s, x in the memory of the pool: nothing is written to it",
    async (schedule) => {
      mortal = await openMortal(4, hesitant(2));
      const plan = await mortal.engine.sptrsv(A, { schedule });
      const [right, out] = [await mortal.engine.upload(b), await mortal.engine.upload(new Float64Array(n).fill(7))];
      const failed = expect(plan.solve(right, out)).rejects.toThrow("a worker died");
      await soon(20);
      await mortal.workers[2]?.terminate();
      await failed;
      expect((await out.read()).every((v) => v === 7)).toBe(true);
      await plan.solve(right, out);
      same(await out.read(), want, "the next one");
    },
  );

  // The last worker to finish would have told the host.
  test.each(SCHEDULES_AND_AUTO)("%s, after the workers have begun to write to x: the call succeeds", async (schedule) => {
    mortal = await openMortal(3, (source) => source.replace("if (Atomics.add", "Atomics.wait(words, 3, 0, 60_000); if (Atomics.add"));
    const plan = await mortal.engine.sptrsv(A, { schedule });
    const [right, out] = [await mortal.engine.upload(b), await mortal.engine.upload(new Float64Array(n).fill(7))];
    const solving = plan.solve(right, out);
    await soon(50);
    await mortal.workers[1]?.terminate();
    await solving;
    same(await out.read(), want, schedule);
  });

  test("while it copies its part of x: the host copies all of it", async () => {
    mortal = await openMortal(2);
    const { arena } = mortal.pool;
    const [begins, indices] = [Int32Array.of(0, 0, 0), new Int32Array(0)];
    const values = new Float64Array(0);
    const tasks = { count: 1 };
    const system = {
      n: 2,
      upper: false,
      exact: true,
      begins,
      ends: begins.subarray(1),
      indices,
      values,
      diagonal: undefined,
      diagonalAt: undefined,
      order: undefined,
    };
    const x = new Float64Array(arena.buffer, arena.allocate(16), 2);
    for (const [done, written] of [
      [0, [7, 7]],
      [1, [3, 4]],
    ] as const) {
      x.fill(7);
      const bytes = sptrsvBytes({ ...system, schedule: "serial", tasks, work: values });
      const at = arena.allocate(bytes + JOB_SIZE);
      const job = new Job(arena, at, 2);
      const space = new Space(arena, at + JOB_SIZE, at + JOB_SIZE + bytes, true);
      const steps = sptrsvJob(space, job, { ...system, schedule: "serial", tasks, work: values }, Float64Array.of(1, 2), x);
      steps.next();
      arena.heap(x).set([3, 4], job.get(JOB_Y) / 8);
      job.set(JOB_DONE, done);
      const dying = (): unknown => steps.throw(new EngineError("a worker died"));
      if (done) expect(dying()).toMatchObject({ done: true });
      else expect(dying).toThrow("a worker died");
      expect([...x]).toEqual(written);
      arena.release(at);
    }
  });

  test("in the middle of large solves, again and again", async () => {
    mortal = await openMortal(3);
    const large = laplacian(64, 64, 16);
    const right = some(large.rows);
    const plans = await Promise.all(SCHEDULES.map((schedule) => mortal.engine.sptrsv(large, { schedule })));
    const answer = storedBits((await plans[0]?.solve(right)) as Float64Array);
    for (const [k, plan] of [...plans, ...plans].entries()) {
      const all = Promise.allSettled(range(6).map(() => plan.solve(right)));
      await soon(k % 4);
      await mortal.alive()[k % 3]?.terminate();
      const results = await all;
      expect(results.filter(({ status }) => status === "rejected").length).toBeLessThanOrEqual(1);
      for (const result of results) if (result.status === "fulfilled") expect(storedBits(result.value)).toEqual(answer);
      expect(storedBits(await plan.solve(right))).toEqual(answer);
    }
    for (const plan of plans) await plan.free();
    expect(mortal.pool.arena.isEmpty()).toBe(true);
  });

  test("a plan that is freed while the worker dies gives its memory back", async () => {
    for (const schedule of SCHEDULES_AND_AUTO) {
      mortal = await openMortal(2);
      const plan = await mortal.engine.sptrsv(A, { schedule });
      const all = Promise.allSettled(range(4).map(() => plan.solve(b)));
      await plan.update(A.values);
      await plan.free();
      await mortal.alive()[1]?.terminate();
      await all;
      expect(mortal.pool.arena.isEmpty(), schedule).toBe(true);
      await mortal.engine.close();
    }
  });
});

describe("memory that is refused", () => {
  // All that there can be, but for pieces of less than 32 kB.
  function hog(): () => void {
    const { arena } = mortal.pool;
    const taken = [arena.allocate(2 ** 32 - 2 ** 27)];
    for (let size = 2 ** 26; size > 2 ** 14; ) {
      const at = arena.allocate(size);
      if (at === 0) size /= 2;
      else taken.push(at);
    }
    return () => {
      for (const at of taken) arena.release(at);
    };
  }

  test("for a plan, a solve, or values while others are in use", async () => {
    mortal = await openMortal(2);
    const { engine, pool } = mortal;
    const large = laplacian(60, 60);
    const right = some(3600);
    const plans = await Promise.all(SCHEDULES_AND_AUTO.map((schedule) => engine.sptrsv(large, { schedule })));
    const answer = exactly(large, right, {}, "binary64");
    const pending = plans.map((plan) => plan.solve(right));
    const give = hog();
    for (const schedule of SCHEDULES_AND_AUTO)
      await expect(engine.sptrsv(large, { schedule }), schedule).rejects.toThrow(/^sptrsv: no memory for \d+ bytes$/);
    const out = new Float64Array(3600).fill(7);
    const updates = await Promise.allSettled(plans.map((plan) => plan.update(large.values.map((v) => 2 * v))));
    for (const plan of plans) await expect(plan.solve(right, out)).rejects.toThrow(EngineError);
    expect(out.every((v) => v === 7)).toBe(true);
    for (const solving of pending) same(await solving, answer, "pending");
    give();
    // An update that was refused has changed nothing; others were made in place.
    for (const [k, plan] of plans.entries()) {
      const updated = updates[k]?.status === "fulfilled";
      if (!updated) expect((updates[k] as PromiseRejectedResult).reason).toBeInstanceOf(EngineError);
      same(await plan.solve(updated ? right.map((v) => 2 * v) : right), answer, "afterwards");
      await plan.free();
    }
    expect(updates.some(({ status }) => status === "rejected")).toBe(true);
    expect(pool.arena.isEmpty()).toBe(true);
  });

  // Every piece of memory in turn: the first one, the second one, until there is enough.
  test.each(SCHEDULES_AND_AUTO)("wherever it is missing, %s: nothing is left behind", async (schedule) => {
    mortal = await openMortal(2);
    const { arena } = mortal.pool;
    const allocate = arena.allocate.bind(arena);
    for (const exact of [true, false]) {
      let enough = false;
      for (let given = 0; !enough; given++) {
        let left = given;
        arena.allocate = (...args) => (left-- > 0 ? allocate(...args) : 0);
        const made = await mortal.engine.sptrsv(A, { schedule, exact }).catch((error: unknown) => error as Error);
        arena.allocate = allocate;
        enough = !(made instanceof Error);
        if (made instanceof Error) expect(made).toBeInstanceOf(EngineError);
        else await made.free();
        expect(arena.isEmpty(), `after ${given} pieces`).toBe(true);
      }
    }
  });
});
