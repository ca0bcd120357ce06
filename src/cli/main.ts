#!/usr/bin/env node
// The executable: connects run.ts with the arguments, streams and exit code of this process.
import { reasonOf, run } from "./run.ts";

// Node 20 has fused multiply-add only behind a flag for the whole process. This process is ours, so set it.
process.env.HALFULP_RELAXED_SIMD ??= "1";

// A reader that closes the pipe has seen enough: the exit code stays what it is. Any other failure to write is an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`halfulp: standard output: ${reasonOf(error)}\n`);
  process.exitCode = 2;
});
process.stderr.on("error", () => {}); // there is nowhere left to report it

const code = await run(process.argv.slice(2), {
  get stdin() {
    return process.stdin;
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
});
process.exitCode ??= code;
