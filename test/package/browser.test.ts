// The built package in a browser, with and without a bundler: the bits of the sources.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { chromium, reporting, visit } from "./browser.ts";
import { install } from "./installed.ts";
import { resultsOf } from "./results.ts";

let folder: string;
beforeAll(() => {
  ({ folder } = install());
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

const page = (script: string, head = "") => `<!doctype html><meta charset="utf-8">${head}<script type="module" src="${script}"></script>`;

describe.skipIf(chromium() === undefined)(`in a browser ${chromium() ? "" : "(npm run setup installs chromium)"}`, () => {
  test("a plain ES module, without a bundler, returns the bits of the sources", async () => {
    const imports = JSON.stringify({ imports: { halfulp: "/node_modules/halfulp/dist/index.js" } });
    writeFileSync(join(folder, "plain.html"), page("/plain.js", `<script type="importmap">${imports}</script>`));
    writeFileSync(join(folder, "plain.js"), MAIN);
    const { report, asked } = await visit(folder, "plain.html");
    expect(report).toEqual(await resultsOf(library));
    expect(asked.filter((path) => path.includes("opencl"))).toEqual([]); // what only Node can use is not fetched
  });

  test("a Vite build returns them too", async () => {
    const app = join(folder, "app");
    mkdirSync(app);
    writeFileSync(join(app, "index.html"), page("/main.js"));
    writeFileSync(join(app, "main.js"), MAIN.replace("./results.js", "../results.js"));
    await build({ root: app, logLevel: "error", build: { target: "es2022" } });
    const { report } = await visit(join(app, "dist"), "index.html");
    expect(report).toEqual(await resultsOf(library));
  });
});

const MAIN = reporting('import * as halfulp from "halfulp";\nimport { resultsOf } from "./results.js";', "resultsOf(halfulp)");
