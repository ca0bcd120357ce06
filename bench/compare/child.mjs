// One build of the library in a process of its own, for compare.mjs: sets up the cases of a group and times them on command.
//   node child.mjs DIST GROUP OPTIONS, with OPTIONS in JSON
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { calibrate } from "../harness/race.mjs";
import { GROUPS } from "./cases.mjs";

const MIN_TIMING = 4; // milliseconds: a timing then has many calls of a short routine
const WARM_UP = 60; // milliseconds before the first timing
const WAKE_UP = 1; // milliseconds of untimed calls before each timing: this process has just been idle

const [dist, group, options] = process.argv.slice(2);
const settings = JSON.parse(options);
const library = await import(pathToFileURL(join(resolve(dist), "index.js")).href);
const { open, cases } = GROUPS[group];
const all = cases(settings);
let engine;
let current;

const COMMANDS = {
  /** The names of the cases. */
  async open() {
    engine = await open?.(library, settings);
    return Object.keys(all);
  },
  /** Set up a case, warm up, and return the milliseconds of one call. */
  async setUp(name) {
    const one = await all[name](library, engine);
    current = { ...one, ...(await calibrate(one.run, WARM_UP, MIN_TIMING)) };
    return current.once;
  },
  /** Nanoseconds per call. */
  async time() {
    const { clock, run, iterations, once } = current;
    await clock(run, Math.max(1, Math.min(iterations, Math.round(WAKE_UP / once))));
    return ((await clock(run, iterations)) * 1e6) / iterations;
  },
  /** The hash of the bits of the result. */
  async finish() {
    const { run, result = run, free } = current;
    const numbers = await result();
    const bits = typeof numbers === "number" ? Float64Array.of(numbers) : numbers;
    await free?.();
    current = undefined;
    return createHash("sha256")
      .update(new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength))
      .digest("hex");
  },
  async close() {
    await engine?.close();
    setImmediate(() => process.exit());
  },
};

process.on("message", async ({ command, value }) => {
  try {
    process.send({ value: await COMMANDS[command](value) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
