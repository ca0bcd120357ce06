// Reads the shared conformance vectors from their files, for tests in Node.
import { readFileSync } from "node:fs";
import { type SharedCase, sharedCases, type VectorFile } from "./cases.ts";

export const textOf = (file: VectorFile): string => readFileSync(new URL(file, import.meta.url), "utf8");

export const readShared = (file: VectorFile): SharedCase[] => sharedCases(file, textOf(file));
