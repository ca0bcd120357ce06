// The engine as a user opens it: which adapter, what is missing where it cannot be opened, lost and closed engines, and that no process is
// kept alive.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { findGpu } from "../../src/engines/webgpu/device/gpu.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { hashes } from "../../src/everywhere/corpus.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import { engines, exgemv, matrix, open } from "../../src/index.ts";
import { engineOf } from "../../src/study.ts";
import { openWebgpu } from "../../src/webgpu.ts";
import { transpileTo } from "../transpiled.ts";

const found = (await engines()).find(({ kind }) => kind === "webgpu");
const [A, x] = [matrix(Float64Array.of(1, 2, 3, 4), 2, 2), Float64Array.of(1e300, -1e300)];

describe.skipIf(!found?.available)(`the engine webgpu ${found?.reason ?? ""}`, () => {
  test("is the adapter that is listed, by name and by place", async () => {
    const { device = "" } = found ?? {};
    for (const options of [{}, { adapter: 0 }, { adapter: device.slice(2, 8) }, { powerPreference: "low-power" }] as const) {
      const engine = await openWebgpu(options);
      expect([engine.kind, engine.device]).toEqual(["webgpu", device]);
      await engine.close();
    }
    await expect(openWebgpu({ adapter: "no such" })).rejects.toThrow(/^webgpu: there is no adapter "no such", expected one of 0 \(/);
    await expect(openWebgpu({ adapter: 99 })).rejects.toThrow("webgpu: there is no adapter 99, expected one of 0 (");
  });

  test("returns the published hash of the corpus", async () => {
    const engine = await open("webgpu");
    expect((await hashes(engine)).short).toEqual(EXPECTED.short);
    await engine.close();
  });

  test("a lost device fails pending and later calls, and writes nothing; then another engine opens", async () => {
    const device = await openDevice(await findAdapter());
    const engine = engineOf(backendOn(device));
    const resident = await engine.upload(A);
    const y = new Float64Array(2);
    const pending = engine.exgemv(1, resident, x, 0, y);
    device.lose();
    await expect(pending).rejects.toThrow(/^webgpu: .* was lost \(.*\): close the engine and open it again$/);
    await expect(engine.exgemv(1, resident, x, 0, y)).rejects.toThrow("was lost");
    await expect(resident.read()).rejects.toThrow("was lost");
    expect(y).toEqual(new Float64Array(2));
    await engine.close();
    const next = await open("webgpu");
    expect(await next.exgemv(1, await next.upload(A), x, 0, y)).toEqual(exgemv(1, A, x, 0, new Float64Array(2)));
    await next.close();
  });

  test("close fails pending and later calls, and may be called twice", async () => {
    const engine = await open("webgpu");
    const resident = await engine.upload(A);
    const pending = Array.from({ length: 5 }, () => engine.exgemv(1, resident, x, 0, new Float64Array(2)));
    const closing = engine.close();
    for (const { status } of await Promise.allSettled(pending)) expect(status).toBe("rejected");
    await closing;
    await engine.close();
    await expect(engine.exgemv(1, A, x, 0, new Float64Array(2))).rejects.toThrow("the engine is closed");
    await expect(resident.read()).rejects.toThrow("the engine is closed");
  });

  describe("a process", () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "halfulp-webgpu-"));
      transpileTo(folder);
      symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    // What a script printed, with the exit code, or the signal that had to end it.
    function run(script: string): Promise<string> {
      const file = join(folder, "script.js");
      writeFileSync(file, `import { matrix, open } from "./halfulp/index.js";\nconst engine = await open("webgpu");\n${script}`);
      const env = { PATH: process.env.PATH, VK_ICD_FILENAMES: process.env.VK_ICD_FILENAMES };
      return new Promise((resolve) => {
        execFile(process.execPath, [file], { cwd: folder, timeout: 120_000, env }, (error, stdout, stderr) =>
          resolve(`${stdout}${stderr}${error?.signal ?? error?.code ?? 0}`),
        );
      });
    }
    const setUp = `const x = await engine.upload(Float64Array.of(1, 2)), A = matrix(Float64Array.of(1, 2, 3, 4), 2, 2);`;

    test("with an engine left open ends, used or not", async () => {
      expect(await run(`console.log("open");`)).toBe("open\n0");
      expect(await run(`${setUp}\nconsole.log(await engine.exgemv(1, A, x, 0, new Float64Array(2)));`)).toBe(
        "Float64Array(2) [ 5, 11 ]\n0",
      );
    });

    test("waits for calls that nobody awaits, and ends after close", async () => {
      expect(await run(`${setUp}\nx.read().then(console.log);\nconsole.log("called");`)).toBe("called\nFloat64Array(2) [ 1, 2 ]\n0");
      const script = `${setUp}\nconst call = x.read();\nawait engine.close();\nconsole.log(await call.catch(({ name }) => name));`;
      expect(await run(script)).toBe("EngineError\n0");
    });
  });
});

describe("where it cannot be opened", () => {
  // What opening says among these globals.
  async function told(globals: Record<string, unknown>, ask: () => Promise<unknown>): Promise<string> {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    const asking = ask().then(
      () => "nothing",
      (error: Error) => `${error.name}: ${error.message}`,
    );
    vi.unstubAllGlobals(); // all of them are read before anything waits
    return asking;
  }
  const browser = { process: undefined, navigator: {} };
  const info = { vendor: "v", architecture: "a", device: "", description: "" };

  test("one line says what is missing", async () => {
    expect(await told(browser, findGpu)).toBe("EngineError: webgpu: this browser has no WebGPU");
    expect(await told({ ...browser, isSecureContext: false }, findGpu)).toBe(
      "EngineError: webgpu: this page is not secure, and browsers offer WebGPU to pages over https or on localhost only",
    );
    const none = { gpu: { requestAdapter: async () => null } };
    expect(await told({ navigator: none }, () => findAdapter())).toMatch(/^EngineError: webgpu: there is no adapter/);
    const refusing = { info, limits: {}, features: new Set(), requestDevice: () => Promise.reject(new Error("not today")) };
    const gpu = { requestAdapter: async () => refusing };
    const refused = () => findAdapter().then(openDevice);
    expect(await told({ navigator: { gpu } }, refused)).toBe("EngineError: webgpu: v a refused a device (not today)");
  });

  test("wrong options are refused", async () => {
    const wrong = (options: unknown) => openWebgpu(options as object);
    await expect(wrong({ adapter: "" })).rejects.toThrow("openWebgpu: adapter is");
    await expect(wrong({ adapter: 1.5 })).rejects.toThrow("openWebgpu: adapter is 1.5, expected a part of its name or its place");
    await expect(wrong({ powerPreference: "fast" })).rejects.toThrow("openWebgpu: powerPreference is");
    await expect(wrong({ device: 0 })).rejects.toThrow("openWebgpu: ");
  });
});
