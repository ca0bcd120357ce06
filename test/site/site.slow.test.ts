// The page in depth: every example on every engine, every example of the documentation, accessibility in both colours and on a phone,
// Firefox, a page that is not isolated, addresses and files that make no sense.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { createServer, preview } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listDocuments, renderDocument } from "../../site/build/documents.ts";
import { EXAMPLES } from "../../site/try/operations.ts";
import { example } from "../../site/worker/examples.ts";
import { hashOf } from "../../src/cli/output/hashing.ts";
import { KINDS } from "../../src/engines/table.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import {
  cg,
  csr,
  exdot,
  exgemv,
  exnrm2,
  exsum,
  type Matrix,
  matrix,
  readMatrixMarket,
  readNpy,
  type Sparse,
  solve,
  sptrsv,
  writeNpy,
} from "../../src/index.ts";
import { buildSite, CHROMIUM, FIREFOX, launch, type Served, serve, Visit } from "./visit.ts";

const VIEWS = ["#try?example=condition", "#try?example=lost", "#bits", "#race", "#read/overview", "#read/sparse", "#read/api"];

let folder: string | undefined;
let served: Served;
beforeAll(async () => {
  if (CHROMIUM !== "" && FIREFOX !== "") return;
  folder = buildSite();
  served = await serve(folder);
});
afterAll(async () => {
  await served?.close();
  if (folder) await rm(folder, { recursive: true });
});

describe.skipIf(CHROMIUM !== "")(`in Chromium${CHROMIUM}`, () => {
  let opened: { browser: Browser; close(): Promise<void> };
  beforeAll(async () => {
    opened = await launch("chrome with WebGPU");
  });
  afterAll(() => opened?.close());

  test("every ready example fails in ordinary arithmetic, and has the bits of the library on every engine", async () => {
    const visit = await Visit.open(opened.browser, served.url);
    await visit.page.mouse.move(50, 50);
    await visit.page.waitForSelector('.options select option[value="threads"]');
    const kinds = await visit.page.$$eval(".options .field:first-child option", (options) => options.map((option) => option.value));
    expect(kinds).toContain("wasm");
    for (const [name, { operation, method = "" }] of Object.entries(EXAMPLES)) {
      const expected = await libraryHash(operation, method, await example(name));
      for (const kind of kinds) {
        const device = kind === "wasm" ? "wasm-" : kind === "threads" ? "\\d+ threads" : "(?!wasm|\\d+ threads).";
        await visit.go(`#try?example=${name}&engine=${kind}`);
        await visit.reads(".facts", new RegExp(`^Hash ${expected} .* Engine ${device}`));
        expect(await visit.page.$$(".verdict.bad"), name).toHaveLength(1);
      }
    }
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });

  test("every engine that a browser may have returns the published bits, WebGPU on SwiftShader too", async () => {
    const visit = await Visit.open(opened.browser, served.url, "#bits");
    await visit.click("Run the self-test");
    expect(await visit.reads(".bits-view .status", /published|could not/, 580)).toBe("All engines return the published bits.");
    const line = await visit.text(".share code");
    for (const kind of KINDS) if (kind !== "opencl") expect(line).toContain(`${kind} ${EXPECTED.short.all.slice(0, 16)} `);
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });

  test("every example of the documentation that needs no Node prints what the documentation says", async () => {
    const visit = await Visit.open(opened.browser, served.url, "#read");
    const pages = listDocuments();
    let count = 0;
    for (const page of pages) {
      const examples = renderDocument(page, pages).html.split("data-run").length - 1;
      if (examples === 0) continue;
      await visit.go(`#read/${page.id}`);
      await visit.page.waitForFunction((n) => document.querySelectorAll(".example").length === n, {}, examples);
      for (const [k, button] of (await visit.page.$$(".run")).entries()) {
        await button.click();
        await visit.page.waitForFunction(
          (at) => /✓|This is|could not/.test(document.querySelectorAll(".example .status")[at]?.textContent ?? ""),
          { timeout: 120_000 },
          k,
        );
        const text = await visit.page.$$eval(".example .status", (all, at) => all[at]?.textContent, k);
        expect(text, `${page.id}, example ${k + 1}`).toMatch(/^✓/);
        count++;
      }
    }
    expect(count).toBeGreaterThan(20);
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });

  test.each(["light", "dark"])("axe finds nothing in any part, %s, wide and narrow", async (colours) => {
    const visit = await Visit.open(opened.browser, served.url);
    await visit.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: colours }]);
    for (const width of [1280, 360]) {
      await visit.page.setViewport({ width, height: 800 });
      for (const view of VIEWS) {
        await visit.go(view);
        await visit.see("main h1");
        if (view.startsWith("#try")) await visit.see(".facts");
        await visit.page.waitForNetworkIdle();
        expect(await visit.accessibility(), `${view}, ${width} pixels`).toEqual([]);
        const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${view}, ${width} pixels`).toBeLessThanOrEqual(0);
      }
    }
    await visit.page.close();
  });

  test("no page of the documentation is wider than a phone", async () => {
    const visit = await Visit.open(opened.browser, served.url);
    await visit.page.setViewport({ width: 320, height: 640 });
    for (const { id, title } of listDocuments()) {
      await visit.go(`#read/${id}`);
      await visit.page.waitForFunction((name) => document.title.startsWith(name), {}, title);
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth), id).toBeLessThanOrEqual(320);
    }
    await visit.page.close();
  });

  test("the links of the documentation lead to its pages and sections", async () => {
    const pages = listDocuments();
    const rendered = new Map(pages.map((page) => [page.id, renderDocument(page, pages).html]));
    const wrong: string[] = [];
    for (const [id, html] of rendered)
      for (const [, target = "", anchor] of html.matchAll(/href="#read\/([^"?]+)(?:\?at=([^"]+))?"/g)) {
        const other = rendered.get(target);
        if (!other?.includes(anchor === undefined ? "" : `id="doc-${decodeURIComponent(anchor)}"`))
          wrong.push(`${id}: ${target} ${anchor}`);
      }
    expect(wrong).toEqual([]);
  });

  test("shuffling changes ordinary arithmetic and not the exact sum; the result is saved; the colours are switched", async () => {
    const visit = await Visit.open(opened.browser, served.url, "#try?example=order");
    const before = [await visit.reads(".card.exact .number", /./), await visit.text(".card.ordinary .number")];
    const seen = new Set([before[1]]);
    for (let k = 0; k < 5; k++) {
      const values = await visit.page.$eval("#operand-x", (field) => (field as HTMLTextAreaElement).value);
      await visit.click("Shuffle");
      expect(await visit.page.$eval("#operand-x", (field) => (field as HTMLTextAreaElement).value)).not.toBe(values);
      await new Promise((resolve) => setTimeout(resolve, 1000)); // the pause after a key, and the computation
      expect(await visit.text(".card.exact .number")).toBe(before[0]);
      seen.add(await visit.text(".card.ordinary .number"));
    }
    expect(seen.size).toBeGreaterThan(2);

    const downloads = mkdtempSync(join(tmpdir(), "halfulp-downloads-"));
    const session = await visit.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
    await visit.click("Save as .npy");
    const file = join(downloads, "result.npy");
    await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
    expect(hashOf(readNpy(readFileSync(file)) as Float64Array)).toBe(await visit.text(".hash"));
    await rm(downloads, { recursive: true });

    const paper = (): Promise<string> => visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const colours = [await paper()];
    await visit.page.click("#theme");
    colours.push(await paper());
    await visit.page.reload();
    await visit.see(".hero");
    expect(colours[0]).not.toBe(colours[1]);
    expect(await paper()).toBe(colours[1]);
    expect(visit.complaints).toEqual([]);
    await visit.page.evaluate(() => localStorage.clear());
    await visit.page.close();
  });

  test("npm run site:serve and site:dev send the headers that threads need", async () => {
    const configFile = fileURLToPath(new URL("../../site/vite.config.ts", import.meta.url));
    const built = await preview({ configFile, logLevel: "error", build: { outDir: folder as string }, preview: { port: 4321 } });
    const sources = await createServer({ configFile, logLevel: "error", server: { port: 4322 } });
    await sources.listen();
    for (const url of [built.resolvedUrls?.local[0], sources.resolvedUrls?.local[0]]) {
      const { headers } = await fetch(url as string);
      expect(headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
      expect(headers.get("Cross-Origin-Embedder-Policy")).toBe("require-corp");
    }
    await built.close();
    await sources.close();
  });

  test("a keyboard is enough", async () => {
    const visit = await Visit.open(opened.browser, served.url);
    await visit.see(".facts");
    const { keyboard } = visit.page;
    const focused = (): Promise<string> => visit.page.evaluate(() => (document.activeElement as HTMLElement).innerText.trim());
    await keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await keyboard.press("Enter");
    for (let k = 0; k < 3; k++) await keyboard.press("Tab");
    expect(await focused()).toBe("Norm");
    await keyboard.press("Enter");
    await visit.reads(".card.exact .number", /^5e−200$/);
    while ((await visit.page.evaluate(() => document.activeElement?.tagName)) !== "TEXTAREA") await keyboard.press("Tab");
    await keyboard.down("Control");
    await keyboard.press("a");
    await keyboard.up("Control");
    await keyboard.type("3 4");
    await visit.reads(".card.exact .number", /^5$/);
    await visit.page.close();
  });

  test("without isolation the page says so, and goes on with one thread", async () => {
    const plain = await serve(folder as string, { isolated: false });
    const visit = await Visit.open(opened.browser, plain.url, "#bits");
    await visit.reads("footer", /not cross-origin isolated, so it goes on with one thread.*Cross-Origin-Opener-Policy: same-origin/);
    await visit.click("Run the self-test");
    expect(await visit.reads(".bits-view .status", /published|could not/, 580)).toBe("All engines return the published bits.");
    await visit.reads(
      ".bits-view",
      /Wasm, threads is not here: threads need shared memory: serve the page with Cross-Origin-Opener-Policy/,
    );
    await visit.go("#try?example=tenths&engine=threads");
    await visit.reads(".card.exact .number", /^1$/);
    await visit.reads(".settings", /Wasm, threads: threads need shared memory/);
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
    await plain.close();
  });

  test("addresses that make no sense show something that does", async () => {
    const visit = await Visit.open(opened.browser, served.url);
    const strange = [
      "#nothing",
      "#try?op=__proto__",
      "#try?example=constructor",
      "#try?op=solve&z=%%%",
      "#try?op=sum&z=AAAA",
      "#try?op=sum&x=%ff",
      "#try?engine=opencl&op=sum&x=1",
    ];
    for (const fragment of strange) {
      await visit.page.goto(`${served.url}?${Math.random()}${fragment}`);
      await visit.see(".result .empty, .result .error, .result .facts");
    }
    for (const fragment of ["#read/nothing", "#read/%E0%A4%A", "#read/solve?at=nowhere"]) {
      await visit.go(fragment);
      await visit.see("article h1");
    }
    await visit.go("#race?routine=valueOf");
    await visit.see(".figure");
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });

  test("files that make no sense are one line each, and the page goes on", async () => {
    const visit = await Visit.open(opened.browser, served.url, "#try?op=solve");
    const good = writeNpy(matrix(Float64Array.of(2, 0, 0, 4), 2, 2));
    const files: [string, Uint8Array, RegExp][] = [
      ["cut.npy", good.subarray(0, 100), /^cut\.npy.*expected/],
      ["noise.npy", Uint8Array.from({ length: 500 }, (_, k) => (k * 97) % 256), /^noise\.npy/],
      ["words.csv", Buffer.from("1,2\n3,four\n"), /^words\.csv: line 2 has "four" in column 2, expected a number\.$/],
      ["short.csv", Buffer.from("1,2\n3\n"), /^short\.csv: line 2 has 1 columns, expected 2/],
      ["bad.mtx", Buffer.from("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n"), /^bad\.mtx: line 3/],
      ["photo.png", Buffer.from([1, 2, 3]), /^photo\.png: expected a name that ends in \.csv/],
      ["empty.csv", new Uint8Array(0), /./],
    ];
    await visit.drop(".operand:nth-child(2)", "b.csv", Buffer.from("2\n4\n"));
    for (const [name, bytes, message] of files) {
      await visit.drop(".operand", name, bytes);
      expect(await visit.reads(".result .error", message)).not.toContain("\n");
    }
    await visit.drop(".operand", "singular.csv", Buffer.from("1,2\n2,4\n"));
    await visit.reads(".result .error", /singular|depends|pivot/);
    await visit.drop(".operand", "good.npy", good);
    await visit.reads(".card.exact .number", /^1$/);
    await visit.click("Remove");
    await visit.reads(".result .empty", /Type or paste A/);
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });

  test("long work is stopped, and the next one runs", async () => {
    const visit = await Visit.open(opened.browser, served.url, "#try?op=solve");
    const n = 1500;
    const A = Float64Array.from({ length: n * n }, (_, k) => 1 / (Math.floor(k / n) + (k % n) + 1)); // Hilbert's: exact arithmetic has much to do
    const bytes = writeNpy(matrix(A, n, n));
    await visit.page.evaluate((numbers) => {
      const binary = atob(numbers);
      const file = new File([Uint8Array.from(binary, (letter) => letter.charCodeAt(0))], "big.npy");
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(file);
      document.querySelector(".operand")?.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, Buffer.from(bytes).toString("base64"));
    await visit.drop(".operand:nth-child(2)", "b.npy", writeNpy(new Float64Array(n).fill(1)));
    await visit.reads(".result .waiting", /Computing/);
    await visit.click("Stop");
    await visit.reads(".result .empty", /^Stopped\.$/);
    await visit.go("#try?example=hilbert");
    await visit.reads(".card.exact .number", /^1$/);
    expect(visit.complaints).toEqual([]);
    await visit.page.close();
  });
});

describe.skipIf(FIREFOX !== "")(`in Firefox, without WebGPU${FIREFOX}`, () => {
  let opened: { browser: Browser; close(): Promise<void> };
  let visit: Visit;
  beforeAll(async () => {
    opened = await launch("firefox");
    visit = await Visit.open(opened.browser, served.url);
  });
  afterAll(() => opened?.close());

  test("the first screen makes the point", async () => {
    await visit.reads(".card.ordinary .number", /^4$/);
    await visit.reads(".card.exact .number", /^3\.14$/);
    await visit.write("#operand-x", "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1");
    await visit.reads(".card.exact .number", /^1$/);
    await visit.reads(".verdict", /off by one unit in the last place/);
  });

  test("wasm and threads return the published bits", async () => {
    await visit.click("Same bits");
    await visit.click("Run the self-test");
    expect(await visit.reads(".bits-view .status", /published|could not/, 580)).toBe("All engines return the published bits.");
    const line = await visit.text(".share code");
    expect(line).toContain(`threads ${EXPECTED.short.all.slice(0, 16)}`);
    expect(line).toContain("Firefox");
  });

  test("a race runs, and stops", async () => {
    await visit.click("Race");
    await visit.click("Start");
    await visit.page.waitForFunction(() => document.querySelectorAll(".point.exact").length >= 2);
    await visit.click("Stop");
    await visit.reads(".race .status", /^Stopped\. At n = /);
  });

  test("an example of the documentation runs, and nothing was complained about", async () => {
    await visit.go("#read/guides/same-bits");
    await visit.reads("article h1", /same bits/);
    await visit.page.click(".run");
    await visit.reads(".example .status", /✓/);
    expect(visit.requests.filter((url) => !url.startsWith(served.url))).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});

async function libraryHash(operation: string, method: string, texts: Record<string, string>): Promise<string> {
  const numbers = (text = ""): Float64Array => Float64Array.from(text.split(/[\s,]+/), Number);
  const rows = (text = ""): Matrix => matrix(numbers(text), text.split("\n").length, numbers(text).length / text.split("\n").length);
  const { x, y, A, B, b } = texts;
  switch (operation) {
    case "sum":
      return hashOf(Float64Array.of(exsum(numbers(x))));
    case "dot":
      return hashOf(Float64Array.of(exdot(numbers(x), numbers(y))));
    case "norm":
      return hashOf(Float64Array.of(exnrm2(numbers(x))));
    case "product":
      return hashOf(exgemv(1, rows(A), numbers(B), 0, new Float64Array(rows(A).rows)));
    case "solve":
      return hashOf(solve(rows(A), numbers(b)).x);
    default: {
      const sparse = A?.startsWith("%%") ? ((await readMatrixMarket(A)) as Sparse) : sparseOf(rows(A));
      return hashOf(method === "cg" ? cg(sparse, numbers(b)).x : sptrsv(sparse).solve(numbers(b)));
    }
  }
}

function sparseOf({ rows, cols, data }: Matrix): Sparse {
  const kept = [...data.keys()].filter((k) => data[k] !== 0);
  const pointers = Int32Array.from({ length: rows + 1 }, (_, i) => kept.filter((k) => k < i * cols).length);
  return csr(
    rows,
    cols,
    pointers,
    Int32Array.from(kept, (k) => k % cols),
    Float64Array.from(kept, (k) => data[k] as number),
  );
}
