// The links of the documents.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./installed.ts";

const documents = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));

test.each(["README.md", "CHANGELOG.md", ...documents.map((name) => `docs/${name}`)])("links of %s lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const links = [...text.matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map(([, target]) => target as string);
  const missing = links.filter((target) => !/^https?:/.test(target) && !existsSync(join(root, dirname(page), target)));
  expect(missing).toEqual([]);
});

test("every page can be reached from the README", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  expect(documents.filter((name) => !text.includes(`docs/${name}`))).toEqual([]);
});
