// The systems of test/vectors with their solutions, computed by rational arithmetic in another language. solve.jsonl is the
// shared file; solve-ties.jsonl has what that file lacks: ties, near ties, both ends of the range, and the index of dependent columns.
import { readFileSync } from "node:fs";
import { fromHex } from "../hex.ts";
import type { System } from "./systems.ts";

export interface Case {
  readonly system: System;
  /** The components of the solution; undefined where A is singular. */
  readonly want: number[] | undefined;
  /** The first column that depends on those before it, where the file tells. */
  readonly index: number | undefined;
}

interface Line {
  readonly kind: string;
  readonly n: number;
  readonly A: string[];
  readonly b: string[];
  readonly want: string[] | null;
  readonly index?: number;
}

export const FILES = ["solve.jsonl", "solve-ties.jsonl"] as const;

export function readCases(file: (typeof FILES)[number]): Case[] {
  const lines = readFileSync(new URL(`../vectors/${file}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  return lines
    .map((line) => JSON.parse(line) as Line)
    .map(({ kind, n, A, b, want, index }) => ({
      system: { kind, n, A: Float64Array.from(A, fromHex), b: Float64Array.from(b, fromHex) },
      want: want?.map(fromHex),
      index,
    }));
}
