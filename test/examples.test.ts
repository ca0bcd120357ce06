// The examples in the comments of public functions, as docs/api.md shows them (scripts/apiDocs.mjs checks that every function has one): each
// is run, and an expression with a comment after it must have that value.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import * as halfulp from "../src/index.ts";
import * as mpi from "../src/mpi.ts";
import * as opencl from "../src/opencl.ts";
import * as webgpu from "../src/webgpu.ts";
import { MISSING } from "./ranks/job.ts";

const engines = await halfulp.engines();
const missing = (wanted: halfulp.EngineKind): string => {
  const engine = engines.find(({ kind }) => kind === wanted);
  return engine?.available ? "" : ` (${engine?.reason})`;
};
/** The entry points that need something: their names besides those of halfulp, and what is missing. */
const ENTRIES: Record<string, { names: object; missing: string }> = {
  "halfulp/opencl": { names: opencl, missing: missing("opencl") },
  "halfulp/webgpu": { names: webgpu, missing: missing("webgpu") },
  "halfulp/mpi": { names: mpi, missing: MISSING },
};

const text = readFileSync(fileURLToPath(new URL("../docs/api.md", import.meta.url)), "utf8");
const examples = text.split(/^## /m).flatMap((part) => {
  const { names, missing } = ENTRIES[part.slice(0, part.indexOf("\n"))] ?? { names: {}, missing: "" };
  return [...part.matchAll(/^### `(\w+)`\n(?:(?!^### )[^\n]*\n)*?```js\n(.*?)^```/gms)].map(([, name, code]) => ({
    name: name as string,
    code: code as string,
    scope: { ...halfulp, ...names } as Record<string, unknown>,
    missing,
  }));
});

const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => (...args: unknown[]) => Promise<void>;
const RESULT = /^(?!const |for |\/\/)(.*); \/\/ (.*)$/;

async function check({ code, scope }: (typeof examples)[number]): Promise<void> {
  const found: unknown[] = [];
  const said = code.split("\n").flatMap((line) => RESULT.exec(line)?.[2] ?? []);
  const checked = code.replace(new RegExp(RESULT, "gm"), "found.push(await ($1));");
  await new AsyncFunction("found", ...Object.keys(scope), checked)(found, ...Object.values(scope));
  expect(found.map((value) => inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 }))).toEqual(said);
}

describe("the examples in comments are true", () => {
  test("there are many", () => expect(examples.length).toBeGreaterThan(50));
  for (const example of examples) test.skipIf(example.missing)(`${example.name}${example.missing}`, () => check(example));
});
