// A process with an open pool ends by itself, and not before its calls are done.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { transpileTo } from "../transpiled.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "halfulp-process-"));
  transpileTo(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

// How a script ends: what it printed, with the exit code, or the signal that had to end it.
function run(script: string, ...flags: string[]): Promise<string> {
  const text = `import { exdot, matrix, open, engines } from "./halfulp/index.js";\n${script}`;
  const file = join(folder, `${Math.random()}.js`);
  if (!flags.includes("-e")) writeFileSync(file, text);
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: 30_000, env: { PATH: process.env.PATH } };
    execFile(process.execPath, [...flags, flags.includes("-e") ? text : file], options, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error?.signal ?? error?.code ?? 0}`),
    );
  });
}

describe("a process", () => {
  test("with an open pool that was never used ends", async () => {
    expect(await run(`await open("threads", { threads: 4 }); console.log("open");`)).toBe("open\n0");
  });

  test("with an open pool that has worked ends", async () => {
    const script = `
      const engine = await open("threads", { threads: 4 });
      const resident = await engine.upload(Float64Array.of(1, 2, 3));
      for (let k = 0; k < 3; k++) console.log(await engine.exsum(resident));`;
    expect(await run(script)).toBe("6\n6\n6\n0");
  });

  test("waits for calls that nobody awaits", async () => {
    const script = `
      const engine = await open("threads", { threads: 3 });
      const A = matrix(new Float64Array(250000).map((_, i) => Math.sin(i)), 500, 500);
      engine.exlu(A).then(({ pivots }) => console.log(pivots.length));
      engine.exsum(Float64Array.of(1, 2)).then((s) => engine.exsum(Float64Array.of(s, 4))).then(console.log);
      console.log("called");`;
    // A short call may finish between two steps of a long one.
    expect((await run(script)).split("\n").sort()).toEqual(["0", "500", "7", "called"]);
  });

  test("ends after close, with calls pending too", async () => {
    const script = `
      const engine = await open("threads", { threads: 3 });
      const calls = Array.from({ length: 20 }, () => engine.exlu(matrix(new Float64Array(40000).map((_, i) => Math.sin(i)), 200, 200)));
      setTimeout(() => console.log("later"), 100);
      await engine.close();
      console.log((await Promise.allSettled(calls)).at(-1).reason.message);`;
    expect(await run(script)).toBe("threads: the engine is closed\nlater\n0");
  });

  test("ends after a worker has died, and after the next call", async () => {
    const script = `
      import { Worker } from "node:worker_threads";
      import { engineOf, openThreads } from "./halfulp/study.js";
      import { nodeThread } from "./halfulp/engines/threads/spawn.js";
      const workers = [];
      const spawn = (source) => nodeThread(workers[workers.push(new Worker(source, { eval: true })) - 1]);
      const engine = engineOf(await openThreads(2, undefined, spawn));
      workers[0].terminate();
      await engine.exlu(matrix(new Float64Array(640000).map((_, i) => Math.sin(i)), 800, 800)).catch((error) => console.log(error.name));
      console.log(await engine.exsum(Float64Array.of(1, 2)), workers.length);`;
    expect(await run(script)).toBe("EngineError\n3 4\n0");
  });

  test("ends after a pool could not be opened", async () => {
    const script = `
      import { Worker } from "node:worker_threads";
      import { openThreads } from "./halfulp/study.js";
      import { nodeThread } from "./halfulp/engines/threads/spawn.js";
      let count = 0;
      const spawn = (source) => nodeThread(new Worker(count++ === 1 ? "throw new Error('no')" : source, { eval: true }));
      await openThreads(3, undefined, spawn).catch((error) => console.log(error.message));`;
    expect(await run(script)).toBe("threads: a worker could not start: no\n0");
  });

  test("of text that is a module has threads too", async () => {
    const script = `
      const engine = await open("threads", { threads: 2 });
      console.log(await engine.exdot(Float64Array.of(1e200, 1), Float64Array.of(1e-200, 2)));`;
    expect(await run(script, "--input-type=module", "-e")).toBe("3\n0");
  });

  test.each([
    ["that may not generate code", "delete globalThis.WebAssembly;", "WebAssembly, which is not allowed here"],
    ["without SIMD", "WebAssembly.validate = () => false;", "WebAssembly with SIMD, which this runtime does not have"],
  ])("%s has neither wasm nor threads, and is told why by name", async (_, hidden, missing) => {
    const script = `
      for (const { available, reason } of (await engines()).slice(0, 2)) console.log(available, reason);
      for (const kind of ["wasm", "threads"]) await open(kind).catch((error) => console.log(error.name, error.message));
      const { kind, device } = await open("auto");
      console.log(kind, device, exdot(Float64Array.of(3), Float64Array.of(4)));`;
    const reasons = [`the engine needs ${missing}; open("auto") runs plain TypeScript`, `threads need ${missing}`];
    const lines = [...reasons.map((reason) => `false ${reason}`), ...reasons.map((reason) => `EngineError open: ${reason}`)];
    expect(await run(`${hidden}${script}`)).toBe([...lines, "wasm reference 12", "0"].join("\n"));
  });
});
