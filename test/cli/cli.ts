// The command in this process, with what it reads and writes in the hands of a test.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Matrix, Real, Sparse } from "../../src/arrays/types.ts";
import { run } from "../../src/cli/run.ts";
import { writeMatrixMarket, writeNpy } from "../../src/index.ts";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Run a command line; `stdin` comes in these pieces. */
export async function halfulp(argv: readonly string[], stdin: Iterable<Uint8Array> = [], isTerminal = false): Promise<Said> {
  let [out, err] = ["", ""];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield* stdin;
  }
  const code = await run(argv, {
    stdin: pieces(),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    isTerminal,
  });
  return { code, out, err };
}

/** What it says with --json. */
export async function json(argv: readonly string[], stdin: Iterable<Uint8Array> = []): Promise<Record<string, unknown>> {
  const { out, err, code } = await halfulp([...argv, "--json"], stdin);
  if (code === 2) throw new Error(err);
  return JSON.parse(out);
}

/** Text as bytes, in pieces of at most this many. */
export function pieces(bytes: Uint8Array | string, size: number): Uint8Array[] {
  const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, k) => all.subarray(k * size, (k + 1) * size));
}

/** A folder for one test file, and ways to put files there. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "halfulp-cli-"));
  afterAll(() => rmSync(path, { recursive: true }));
  const put = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(path, name), content);
    return join(path, name);
  };
  return {
    path,
    at: (name: string): string => join(path, name),
    put,
    npy: (name: string, value: Real | Matrix): string => put(name, writeNpy(value)),
    mtx: (name: string, value: Matrix | Sparse): string => put(name, [...writeMatrixMarket(value)].join("")),
  };
}
