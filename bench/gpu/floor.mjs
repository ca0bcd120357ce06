// Limits of the machine, for gpu.mjs: copies on the device, launches, and transfers between host and device.

import { quick } from "../harness/options.mjs";
import { timeOf, timings } from "../harness/race.mjs";
import { figure } from "../harness/table.mjs";
import { PLAIN } from "../peers/opencl/kernels.mjs";
import { perCall, raceOnDevice } from "./clock.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

const COPIED = quick ? 2 ** 24 : 2 ** 32; // bytes
const MOVED = quick ? 2 ** 24 : 2 ** 29;
const LAUNCHES = 1000;
const GROUP = 256;

/** { copyGBs, launch, roundTrip, upGBs, downGBs, rivals }, times in nanoseconds; GB/s of a copy count the bytes read and written. */
export async function measureFloor({ device, cuda: { runtime } }) {
  const copied = await copies(device, runtime);
  const launched = await launches(device);
  const moved = await transfers(device, runtime);
  const microseconds = { µs: ({ median }) => figure(median / 1e3) };
  printOutcomes("Copies on the device, counting bytes read and written", copied, { ...milliseconds, ...bandwidth(2 * COPIED) });
  printOutcomes("Launches", launched, microseconds);
  printOutcomes("Transfers", moved, { ...milliseconds, ...bandwidth(MOVED) });
  return {
    copyGBs: (2 * COPIED) / Math.min(...copied.slice(0, 2).map(({ median }) => median)),
    launch: timeOf(launched, "in a row"),
    roundTrip: timeOf(launched, "and a wait"),
    upGBs: MOVED / timeOf(moved, "write"),
    downGBs: MOVED / timeOf(moved, "read"),
    rivals: timings([...copied, ...launched, ...moved]),
  };
}

async function copies(device, runtime) {
  const [from, to] = [0, 1].map(() => device.allocate(COPIED));
  device.fill(from, Float64Array.of(1));
  const kernel = device.kernel("copyNumbers", PLAIN);
  const finish = () => device.finish();
  const numbers = COPIED / 16;
  const rivals = [
    { name: "clEnqueueCopyBuffer", enqueue: () => device.copy(from, to, COPIED), finish },
    { name: "copy kernel", enqueue: () => device.launch(kernel, [numbers / GROUP], [GROUP], [from, to]), finish },
  ];
  const memories = runtime.missing ? [] : [0, 1].map(() => runtime.allocate(COPIED));
  if (!runtime.missing)
    rivals.push({ name: "cudaMemcpy on the device", enqueue: () => runtime.copy(...memories, COPIED), finish: runtime.finish });
  const outcomes = await raceOnDevice(rivals);
  for (const buffer of [from, to]) buffer.free();
  if (!runtime.missing) runtime.free(...memories);
  return outcomes;
}

async function launches(device) {
  const memory = device.allocate(16);
  const kernel = device.kernel("nothing", PLAIN);
  const enqueue = () => device.launch(kernel, [1], [32], [memory]);
  const finish = () => device.finish();
  const inARow = () => {
    for (let i = 0; i < LAUNCHES; i++) enqueue();
  };
  const waiting = () => {
    enqueue();
    finish();
  };
  const outcomes = await raceOnDevice([
    { name: "in a row, empty kernels", enqueue: inARow, finish },
    { name: "and a wait, empty kernel", enqueue: waiting, finish },
  ]);
  memory.free();
  return outcomes.map((outcome) => (outcome.name.startsWith("in a row") ? perCall(outcome, LAUNCHES) : outcome));
}

async function transfers(device, runtime) {
  const host = new Float64Array(MOVED / 8).fill(1);
  const memory = device.allocate(MOVED);
  const finish = () => device.finish();
  const rivals = [
    { name: "write", enqueue: () => device.write(memory, host), finish },
    { name: "read", enqueue: () => device.read(memory, host), finish },
  ];
  const target = runtime.missing ? undefined : runtime.allocate(MOVED);
  if (!runtime.missing)
    rivals.push(
      { name: "cudaMemcpy to the device", enqueue: () => runtime.write(target, host), finish: runtime.finish },
      { name: "cudaMemcpy from the device", enqueue: () => runtime.read(target, host), finish: runtime.finish },
    );
  const outcomes = await raceOnDevice(rivals);
  memory.free();
  if (!runtime.missing) runtime.free(target);
  return outcomes;
}
