// The package in bundles of webpack and esbuild, minified as for production: a program that starts workers must still do so, and
// return the bits of the sources. (Vite's and Rolldown's bundles are in browser.test.ts and size.test.ts.)
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import webpack from "webpack";
import * as library from "../../src/index.ts";
import { install } from "./installed.ts";
import { resultsOf } from "./results.ts";

let folder: string;
beforeAll(() => {
  ({ folder } = install());
});
afterAll(() => rmSync(folder, { recursive: true }));

// exsum and open("threads") are among the results; engines() is what goes to look for OpenCL, in a chunk of its own.
const MAIN = `import * as halfulp from "halfulp";
import { resultsOf } from "./results.js";
console.log(JSON.stringify({ ...(await resultsOf(halfulp)), kinds: (await halfulp.engines()).map(({ kind }) => kind) }));
`;

type Bundler = (entry: string, folder: string, platform: "node" | "web") => Promise<void>;

const BUNDLERS: Record<string, Bundler> = {
  async webpack(entry, path, platform) {
    const compiler = webpack({
      mode: "production",
      target: platform,
      entry,
      experiments: { outputModule: true },
      performance: { hints: false },
      output: { path, filename: "main.js", chunkFormat: "module", chunkLoading: "import", module: true, publicPath: "./" },
    });
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      compiler?.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    expect(stats?.toString({ all: false, errors: true, warnings: true })).toBe("");
  },
  async esbuild(entry, outdir, platform) {
    const { warnings } = await build({
      entryPoints: { main: entry },
      outdir,
      bundle: true,
      minify: true,
      splitting: true,
      format: "esm",
      platform: platform === "node" ? "node" : "browser",
      logLevel: "silent",
    });
    expect(warnings).toEqual([]);
  },
};

describe.each(Object.keys(BUNDLERS))("a bundle of %s, for production", (name) => {
  test.each(["node", "web"] as const)("for %s returns the bits of the sources, on threads too", async (platform) => {
    writeFileSync(join(folder, "main.js"), MAIN);
    const to = join(folder, `${name}-${platform}`);
    mkdirSync(to);
    writeFileSync(join(to, "package.json"), '{ "type": "module" }');
    await (BUNDLERS[name] as Bundler)(join(folder, "main.js"), to, platform);
    const { stdout, stderr } = spawnSync(process.execPath, ["main.js"], { cwd: to, encoding: "utf8" });
    expect(stderr.match(/^\w*Error.*/m)?.[0]).toBe(undefined); // not all of it: Node shows the line, which is the whole bundle
    const { kinds, ...results } = JSON.parse(stdout);
    expect(results).toEqual(await resultsOf(library));
    expect(kinds).toEqual(["wasm", "threads", "opencl", "webgpu"]);
  });
});
