// The device layer on WebGPU: memory, copies, kernels and their arguments, limits, refused memory, lost and closed devices.
import { afterAll, describe, expect, test } from "vitest";
import type { DeviceBuffer, Wait } from "../../src/engines/device.ts";
import { openDevice, type WebgpuDevice } from "../../src/engines/webgpu/device/device.ts";
import { type FoundAdapter, findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { piecesOf, spread } from "../../src/engines/webgpu/device/pieces.ts";

const found: FoundAdapter | string = await findAdapter().catch((error: Error) => error.message);
const missing = typeof found === "string" ? found : undefined;
const opened: WebgpuDevice[] = [];
const newDevice = async (): Promise<WebgpuDevice> => {
  const device = await openDevice(await findAdapter()); // an adapter makes one device
  opened.push(device);
  return device;
};
afterAll(async () => {
  for (const device of opened) await device.close();
});
const done = (wait: Wait): Promise<void> => wait.later();
const integers = (length: number, f = (i: number) => i): Int32Array => Int32Array.from({ length }, (_, i) => f(i));

async function contents(device: WebgpuDevice, buffer: DeviceBuffer, length: number, offset = 0): Promise<number[]> {
  const to = new Int32Array(length);
  await done(device.read(buffer, to, offset));
  return [...to];
}
function uploaded(device: WebgpuDevice, data: ArrayBufferView): DeviceBuffer {
  const buffer = device.allocate("test", data.byteLength);
  device.write(buffer, data);
  return buffer;
}

// out[i] := x[i] * factor + shift, for i < n; then the words of the last number.
const AFFINE = `
struct Args { n: u32, factor: i32, shift: i32, low: u32, high: u32 }
@group(0) @binding(0) var<storage, read> x: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@group(1) @binding(0) var<uniform> args: Args;
@compute @workgroup_size(GROUP)
fn affine(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = groupIndex(group, groups) * u32(GROUP) + lane;
  if (i < args.n) { out[i] = x[i] * args.factor + args.shift + i32(args.low) + i32(args.high >> 20u); }
}`;

describe.skipIf(missing)(`the device layer on WebGPU${missing ? ` (${missing})` : ""}`, () => {
  test("what is written is read, from any word on", async () => {
    const device = await newDevice();
    const buffer = uploaded(device, integers(1000));
    expect(await contents(device, buffer, 1000)).toEqual([...integers(1000)]);
    device.write(buffer, Int32Array.of(-7), 4 * 3);
    expect(await contents(device, buffer, 3, 8)).toEqual([2, -7, 4]);
    expect(await contents(device, buffer, 0)).toEqual([]);
    // Dawn aborts if it is given shared memory.
    const shared = new Int32Array(new SharedArrayBuffer(12));
    shared.set([5, 6, 7]);
    device.write(buffer, shared);
    expect(await contents(device, buffer, 3)).toEqual([5, 6, 7]);
  });

  test("a long read comes in parts", async () => {
    const device = await newDevice();
    const length = 2 ** 24 + 5;
    const buffer = uploaded(
      device,
      integers(length, (i) => i * 7),
    );
    const all = new Int32Array(length);
    await done(device.read(buffer, all));
    expect(all.findIndex((v, i) => v !== ((i * 7) | 0))).toBe(-1);
  });

  test("copies go between buffers and within one", async () => {
    const device = await newDevice();
    const [a, b] = [
      uploaded(device, integers(8)),
      uploaded(
        device,
        integers(8, () => 0),
      ),
    ];
    device.copy(a, b, 12, 8, 4);
    expect(await contents(device, b, 8)).toEqual([0, 2, 3, 4, 0, 0, 0, 0]);
    device.copy(a, a, 16, 0, 16);
    expect(await contents(device, a, 8)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  test("a buffer is filled with zeros, a word or two words", async () => {
    const device = await newDevice();
    const length = 300;
    const buffer = uploaded(
      device,
      integers(length, () => 9),
    );
    device.fill(buffer, new Float64Array(1), 8, 8);
    expect(await contents(device, buffer, 5)).toEqual([9, 9, 0, 0, 9]);
    device.fill(buffer, Int32Array.of(-1), 4 * 70, 4 * 3);
    expect(await contents(device, buffer, 5, 4 * 69)).toEqual([9, -1, -1, -1, 9]);
    device.fill(buffer, Int32Array.of(1, 2), 8);
    expect(await contents(device, buffer, length)).toEqual([...integers(length, (i) => (i < 2 ? 9 : 1 + (i % 2)))]);
    device.maxBindingBytes = 512;
    device.fill(buffer, Int32Array.of(3, 4));
    expect(await contents(device, buffer, length)).toEqual([...integers(length, (i) => 3 + (i % 2))]);
  });

  test("kernels get buffers, numbers and definitions, and are compiled once", async () => {
    const device = await newDevice();
    const n = 1000;
    const [x, out] = [uploaded(device, integers(n)), device.allocate("test", 4 * n)];
    const kernel = device.kernel("affine", [AFFINE], { GROUP: 64 });
    expect(device.kernel("affine", [AFFINE], { GROUP: 64 })).toBe(kernel);
    expect(device.kernel("affine", [AFFINE], { GROUP: 32 })).not.toBe(kernel);
    for (const factor of [3, -2]) device.launch(kernel, [Math.ceil(n / 64)], [64], [x, out, n, factor, -5, Float64Array.of(1)]);
    expect(await contents(device, out, n)).toEqual([...integers(n, (i) => -2 * i - 5 + 1023)]);
  });

  test("many launches are submitted in order, each with its own numbers", async () => {
    const device = await newDevice();
    const [x, y] = [uploaded(device, Int32Array.of(1)), device.allocate("test", 4)];
    const kernel = device.kernel("affine", [AFFINE], { GROUP: 1 });
    let want = 1;
    for (let k = 0; k < 200; k++) {
      device.launch(kernel, [1], [1], [x, y, 1, 3, k, 0, 0]);
      device.launch(kernel, [1], [1], [y, x, 1, 1, -k, 0, 0]);
      want = Math.imul(want, 3);
    }
    expect(await contents(device, x, 1)).toEqual([want]);
  });

  test("what a launch reads and writes by two arguments is copied first", async () => {
    const device = await newDevice();
    const x = uploaded(device, integers(100));
    device.launch(device.kernel("affine", [AFFINE], { GROUP: 64 }), [2], [64], [x, x, 100, 2, 0, 0, 0]);
    expect(await contents(device, x, 100)).toEqual([...integers(100, (i) => 2 * i)]);
  });

  test("more than 65535 groups become a rectangle, and parts of a buffer begin at multiples of 256 bytes", async () => {
    const device = await newDevice();
    const n = 70_000;
    const [x, out] = [uploaded(device, integers(n)), device.allocate("test", 4 * n)];
    const kernel = device.kernel("affine", [AFFINE], { GROUP: 1 });
    device.launch(kernel, [n], [1], [x, out, n, 1, 1, 0, 0]);
    expect(await contents(device, out, n)).toEqual([...integers(n, (i) => i + 1)]);
    for (const { from, length } of piecesOf(n, 4, 1000))
      device.launch(
        kernel,
        [length],
        [1],
        [device.part(x, 4 * from, 4 * length), device.part(out, 4 * from, 4 * length), length, 2, 0, 0, 0],
      );
    expect(await contents(device, out, n)).toEqual([...integers(n, (i) => 2 * i)]);
    expect(() => device.part(x, 4, 8)).toThrow("expected a multiple of 256");
    expect(() => device.launch(kernel, [1, 70_000], [1], [x, out, n, 1, 1, 0, 0])).toThrow("expected at most 65535 in each dimension");
    expect(spread(65535)).toEqual([65535, 1]);
    expect(spread(65536)).toEqual([32768, 2]);
    expect(piecesOf(130, 8, 520)).toEqual([
      { from: 0, length: 64 },
      { from: 64, length: 64 },
      { from: 128, length: 2 },
    ]);
  });

  test("a matrix is copied row by row, whatever its strides, also in blocks that fit a binding", async () => {
    const device = await newDevice();
    const [rows, cols, offset] = [70, 45, 3];
    for (const width of [4, 8] as const)
      for (const limit of [device.maxBindingBytes, 4096, 1024])
        for (const [rowStride, colStride] of [
          [50, 1],
          [1, 73],
        ] as const) {
          const other = await newDevice();
          const length = offset + 71 * 73;
          const data = width === 8 ? Float64Array.from({ length }, (_, i) => i / 3) : Float32Array.from({ length }, (_, i) => i);
          const [from, to] = [uploaded(other, data), other.allocate("test", rows * cols * width)];
          other.maxBindingBytes = limit;
          other.copyMatrix({ buffer: from, offset, rows, cols, rowStride, colStride }, to, width);
          const got = data.slice(0, rows * cols);
          await done(other.read(to, got));
          const want = got.map((_, e) => data[offset + Math.floor(e / cols) * rowStride + (e % cols) * colStride] as number);
          expect(got, `${width} bytes, ${limit} a binding, strides ${rowStride}, ${colStride}`).toEqual(want);
          await other.close();
        }
  });

  test("freed memory is used again, and its contents do not matter to what was given before", async () => {
    const device = await newDevice();
    const x = uploaded(device, Int32Array.of(1, 2, 3));
    const reading = device.read(x, new Int32Array(3));
    const to = new Int32Array(3);
    const again = device.read(x, to);
    x.free();
    x.free();
    const y = uploaded(device, Int32Array.of(4, 5, 6));
    await done(reading);
    await done(again);
    expect([...to]).toEqual([1, 2, 3]);
    expect(await contents(device, y, 3)).toEqual([4, 5, 6]);
  });

  test("too large a buffer is refused at once, with the routine, and mistakes of kernels at the next wait", async () => {
    const device = await newDevice();
    expect(() => device.allocate("exgemv", device.maxBufferBytes + 1)).toThrow(/^exgemv: \d+ bytes are more than .* takes at once/);
    const buffer = device.allocate("exgemv", 64);
    const kernel = device.kernel("broken", ["@group(0) @binding(0) var<storage, read> x: array<u32>; fn broken() { nonsense; }"]);
    device.launch(kernel, [1], [1], [buffer]);
    await expect(done(device.finish())).rejects.toThrow(/^exgemv: WebGPU refused a command, please report it: .*nonsense/s);
    expect(await contents(device, uploaded(device, Int32Array.of(1)), 1)).toEqual([1]);
    expect(() => device.launch(device.kernel("affine", [AFFINE], { GROUP: 1 }), [1], [1], [buffer, 1])).toThrow(
      "affine gets 1 buffers, expected 2 (its bindings)",
    );
  });

  test("memory that the device refuses is an error that names the routine, and the device stays usable", async () => {
    const device = await newDevice();
    const size = Math.floor(device.maxBufferBytes / 2 ** 20) * 2 ** 20;
    let refused: unknown;
    for (let k = 0; k < 4096 && refused === undefined; k++) {
      device.allocate("exgemm", size);
      refused = await done(device.finish()).catch((error: Error) => error.message);
    }
    expect(refused).toBe(`exgemm: the device has no memory for ${size} bytes, expected a smaller problem`);
    await device.close();
  });

  test("a lost device fails pending and later calls, and a new one opens", async () => {
    const device = await newDevice();
    const x = uploaded(device, Int32Array.of(1));
    const pending = device.read(x, new Int32Array(1));
    device.lose();
    await expect(done(pending)).rejects.toThrow(/^webgpu: .* was lost \(.*\): close the engine and open it again$/);
    expect(() => device.allocate("exsum", 8)).toThrow("was lost");
    expect(() => device.finish()).toThrow("was lost");
    await device.close();
    const next = await newDevice();
    expect(await contents(next, uploaded(next, Int32Array.of(2)), 1)).toEqual([2]);
  });

  test("a closed device fails pending and later calls; closing twice has no effect", async () => {
    const device = await newDevice();
    const pending = done(device.read(uploaded(device, Int32Array.of(1)), new Int32Array(1)));
    pending.catch(() => {});
    const closing = device.close();
    await expect(pending).rejects.toThrow("webgpu: the engine is closed");
    await closing;
    await device.close();
    expect(() => device.allocate("exsum", 8)).toThrow("webgpu: the engine is closed");
  });
});
