#!/usr/bin/env node
import { reasonOf, run } from "./run.ts";

// Node 20 has fused multiply-add behind a flag of the whole process, and this process is ours.
process.env.HALFULP_RELAXED_SIMD ??= "1";

// Whoever read our output may have seen enough: what is to be said by the exit code is said all the same. Any other output that
// cannot be written is a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`halfulp: standard output: ${reasonOf(error)}\n`);
  process.exitCode = 2;
});
process.stderr.on("error", () => {}); // there is nobody to tell

const code = await run(process.argv.slice(2), {
  get stdin() {
    return process.stdin;
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  watched: process.stderr.isTTY === true,
});
process.exitCode ??= code;
