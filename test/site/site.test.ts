// The page, used as a person would in Chromium: every part once, in the order in which a newcomer meets them. site.slow.test.ts goes further.
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashOf } from "../../src/cli/output/hashing.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import { exdot, illConditionedMatrix, matrix, solve, writeMatrixMarket, writeNpy } from "../../src/index.ts";
import { buildSite, CHROMIUM, launch, type Served, serve, Visit } from "./visit.ts";

describe.skipIf(CHROMIUM !== "")(`the page in Chromium${CHROMIUM}`, () => {
  let folder: string;
  let served: Served;
  let opened: { browser: Browser; close(): Promise<void> };
  let visit: Visit;

  beforeAll(async () => {
    folder = buildSite();
    served = await serve(folder);
    opened = await launch("chrome");
    visit = await Visit.open(opened.browser, served.url);
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  test("the first screen makes the point, and takes less than 200 kB compressed", async () => {
    await visit.reads(".card.ordinary .number", /^4$/);
    await visit.reads(".card.exact .number", /^3\.14$/);
    expect(await visit.page.$$eval(".card.ordinary b.wrong", (bits) => bits.length)).toBe(28);
    // what the page and its worker have asked for; the service worker fetches the rest in the background
    const first = [...new Set(visit.requests.map((url) => new URL(url).pathname.slice(1) || "index.html"))];
    const size = first.reduce(
      (sum, name) => sum + (existsSync(join(folder, name)) ? gzipSync(readFileSync(join(folder, name))).length : 0),
      0,
    );
    expect(first.some((name) => name.includes("vectorRoutines"))).toBe(true);
    expect(size, first.join(" ")).toBeLessThan(200_000);
  });

  test("numbers are typed, a link shows the same thing elsewhere", async () => {
    await visit.write("#operand-x", "1e300, 7, -1e300");
    await visit.reads(".card.exact .number", /^7$/);
    await visit.reads(".card.ordinary .number", /^0$/);
    expect(await visit.text(".hash")).toBe(hashOf(Float64Array.of(7)));
    const address = await visit.page.evaluate(() => location.href);
    const other = await Visit.open(opened.browser, address);
    await other.reads(".card.exact .number", /^7$/);
    expect(await other.page.$eval("#operand-x", (field) => (field as HTMLTextAreaElement).value)).toBe("1e300, 7, -1e300");
    expect(other.complaints).toEqual([]);
    await other.page.close();
  });

  test("an example of condition 1e20 has the hash that the command prints", async () => {
    await visit.click("Solve");
    await visit.click("Condition 1e20");
    await visit.reads(".verdict", /12 of 12 numbers/);
    const { x } = solve(illConditionedMatrix(12, 1e20, 7), new Float64Array(12).fill(1));
    expect(await visit.text(".hash")).toBe(hashOf(x));
    await visit.page.click("tbody tr:nth-child(3) button");
    await visit.reads(".card.exact h2", /number 3/);
  });

  test("files are dropped: .csv, .npy and .mtx, on threads", async () => {
    const A = matrix(Float64Array.of(4, 1, 2, 3), 2, 2);
    await visit.drop(".operand", "A.csv", Buffer.from("4,1\n2,3\n"));
    await visit.drop(".operand:nth-child(2)", "b.npy", writeNpy(Float64Array.of(6, 8)));
    await visit.reads(".result", /Here ordinary arithmetic has the same bits/);
    expect(await visit.text(".hash")).toBe(hashOf(solve(A, Float64Array.of(6, 8)).x));
    await visit.reads(".settings", /A link cannot hold the numbers of a file/);
    await visit.drop(".operand", "A.mtx", Buffer.from([...writeMatrixMarket(A)].join("")));
    await visit.page.waitForSelector('.options select option[value="threads"]');
    await visit.page.select(".options select", "threads");
    await visit.reads(".facts", /threads, wasm/);
    expect(await visit.text(".hash")).toBe(hashOf(solve(A, Float64Array.of(6, 8)).x));
  });

  test("bad input is one friendly line, no input an invitation", async () => {
    await visit.click("Dot product");
    await visit.write("#operand-x", "1, 2, three");
    expect(await visit.reads(".result .error", /./)).toBe('x: line 1 has "three", expected a number.');
    await visit.write("#operand-x", "1, 2");
    await visit.write("#operand-y", "1, 2, 3");
    expect(await visit.reads(".result .error", /length/)).toContain("expected 2");
    await visit.write("#operand-y", " ");
    expect(await visit.reads(".result .empty", /./)).toBe("Type or paste y, drop a file, or choose an example.");
    await visit.write("#operand-y", "3, 0.1");
    await visit.reads(".card.exact .number", /./);
    expect(await visit.text(".hash")).toBe(hashOf(Float64Array.of(exdot(Float64Array.of(1, 2), Float64Array.of(3, 0.1)))));
  });

  test("every engine of this browser returns the published bits", async () => {
    await visit.click("Same bits");
    await visit.click("Run the self-test");
    expect(await visit.reads(".bits-view .status", /published|could not|Stopped/, 240)).toBe("All engines return the published bits.");
    const line = await visit.text(".share code");
    expect(line).toContain(EXPECTED.short.all.slice(0, 16));
    expect(line).toMatch(/wasm [0-9a-f]{16} .*threads [0-9a-f]{16} /);
    expect(await visit.page.$$(".hashes .bad")).toEqual([]);
    await visit.click("Copy the line");
    await visit.reads(".share button", /Copied|Selected/);
  });

  test("a race draws its points as it runs, and stops", async () => {
    await visit.click("Race");
    await visit.click("Start");
    await visit.page.waitForFunction(() => document.querySelectorAll(".point.exact").length >= 2);
    await visit.click("Stop");
    expect(await visit.reads(".race .status", /Stopped/)).toMatch(/^Stopped\. At n = \d+ exact takes [\d.]+ times as long/);
  });

  test("the documentation is searched, and an example runs", async () => {
    await visit.click("Read");
    await visit.see("input[type=search]");
    await visit.page.type("input[type=search]", "reusing a factorisation");
    await visit.see(".found a");
    await visit.page.keyboard.press("Enter");
    await visit.reads("article h1", /Solving A x = b/);
    await visit.page.click(".run");
    await visit.reads(".example .status", /✓ This browser prints what the documentation says/);
  });

  test("nothing is wrong for a screen reader", async () => {
    expect(await visit.accessibility()).toEqual([]);
    await visit.click("Try");
    await visit.see(".verdict");
    expect(await visit.accessibility()).toEqual([]);
  });

  test("without a network everything still works, and nothing was ever asked of another server", async () => {
    await visit.page.evaluate(() => navigator.serviceWorker.ready);
    await served.close();
    await visit.page.goto(`${served.url}?again#try?example=hilbert`);
    await visit.reads(".card.exact .number", /^1$/);
    await visit.go("#read/guides/sparse");
    await visit.reads("article h1", /sparse/);
    await visit.go("#race");
    await visit.see(".figure");
    expect(await visit.page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(visit.requests.filter((url) => !url.startsWith(served.url))).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});
