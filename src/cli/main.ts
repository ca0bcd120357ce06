#!/usr/bin/env node
import { run } from "./run.ts";

// Node 20 has fused multiply-add behind a flag of the whole process, and this process is ours.
process.env.HALFULP_RELAXED_SIMD ??= "1";

// Whoever read our output has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

process.exitCode = await run(process.argv.slice(2), {
  get stdin() {
    return process.stdin;
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  watched: process.stderr.isTTY === true,
});
