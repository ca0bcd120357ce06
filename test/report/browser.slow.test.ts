// The page in a real browser: what it makes of it, whether it asks for anything, whether it complains.
import { createReadStream, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { drawPage } from "../../src/report/draw/page.ts";
import { readRun } from "../../src/report/read.ts";
import { folder } from "../cli/cli.ts";
import { browse, missing } from "./chromium.ts";
import { FILES, runOf } from "./data.ts";

const { at, put } = folder();

/** The page with a script at its end, which writes into the title what it found. */
function withProbe(page: string, probe: string): string {
  return page.replace("</body>", `<script>document.title = JSON.stringify((${probe})())</script></body>`);
}

/** What a probe found in a page. */
function found<T>(page: string, probe: () => T, ...flags: string[]): T {
  writeFileSync(at("probe.html"), withProbe(page, probe.toString()));
  const { dom } = browse(at("probe.html"), ...flags);
  const [, title = ""] = /<title>(.*?)<\/title>/s.exec(dom) ?? [];
  return JSON.parse(title.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"));
}

const RESULTS = join(fileURLToPath(new URL("../..", import.meta.url)), "bench/results");
const DRAWN = /^(accuracy|level1|dense|sparse|solve|gpu)/;
const real = readdirSync(RESULTS).filter((name) => DRAWN.test(name));

const PAGES = {
  "a page of made-up numbers": Promise.all((["report", "gpu-a-gpu", "dense"] as const).map((part) => runOf(FILES[part]))),
  "the page of bench/results": Promise.all(real.map((name) => readRun(name, createReadStream(join(RESULTS, name))))),
};

describe.skipIf(missing).each(Object.entries(PAGES))(`%s in Chromium${missing ? ` (${missing})` : ""}`, async (_, runs) => {
  const page = drawPage(await runs, "1.2.3");

  test("has its figures, and nothing to complain of", () => {
    const { dom, console: said } = browse(put("page.html", page));
    expect(said).toEqual([]);
    expect(dom.match(/<figure>/g)?.length).toBe(page.match(/<figure>/g)?.length);
    expect(dom.match(/<svg [^>]*role="img"/g)?.length).toBe(page.match(/<figure>/g)?.length);
  });

  test("asks for nothing from outside", () => {
    const entries = found(page, () => performance.getEntriesByType("resource").map((entry) => entry.name));
    expect(entries).toEqual([]);
  });

  test("every drawing has a size, its texts do not leave the page, and its marks are inside", () => {
    const outside = found(page, () => {
      const bad: string[] = [];
      for (const svg of Array.from(document.querySelectorAll("figure > svg"))) {
        const frame = svg.getBoundingClientRect();
        if (!(frame.width > 300 && frame.height > 50)) bad.push(`${svg.getAttribute("aria-label")}: ${frame.width} x ${frame.height}`);
        for (const mark of Array.from(svg.querySelectorAll("circle, path, rect, text"))) {
          const box = mark.getBoundingClientRect();
          if (box.left < frame.left - 8 || box.right > frame.right + 8 || box.top < frame.top - 8 || box.bottom > frame.bottom + 8)
            bad.push(`${svg.getAttribute("aria-label")}: ${mark.outerHTML.slice(0, 200)}`);
        }
      }
      return bad;
    });
    expect(outside).toEqual([]);
  });

  test("labels of axes do not lie over each other", () => {
    const overlapping = found(page, () => {
      const bad: string[] = [];
      for (const svg of Array.from(document.querySelectorAll("figure > svg"))) {
        const texts = Array.from(svg.querySelectorAll("text")).filter((text) => text.textContent !== "");
        const boxes = texts.map((text) => text.getBoundingClientRect());
        for (let i = 0; i < boxes.length; i++)
          for (let j = 0; j < i; j++) {
            const [a, b] = [boxes[i] as DOMRect, boxes[j] as DOMRect];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 4) bad.push(`${svg.getAttribute("aria-label")}: ${texts[i]?.textContent} over ${texts[j]?.textContent}`);
          }
      }
      return bad;
    });
    expect(overlapping).toEqual([]);
  });

  // Contrast as the Web Content Accessibility Guidelines compute it.
  test.each([
    ["light", "--blink-settings=preferredColorScheme=1"],
    ["dark", "--blink-settings=preferredColorScheme=0"],
  ])("can be read in %s", (scheme, flag) => {
    const { dark, text, muted, series } = found(
      page,
      () => {
        const style = getComputedStyle(document.documentElement);
        const channels = (name: string): number[] =>
          [1, 3, 5].map(
            (at) =>
              Number.parseInt(
                style
                  .getPropertyValue(name)
                  .trim()
                  .slice(at, at + 2),
                16,
              ) / 255,
          );
        const luminance = (name: string): number => {
          const [r = 0, g = 0, b = 0] = channels(name).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (name: string): number => {
          const [a, b] = [luminance(name), luminance("--paper")];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        };
        return {
          dark: luminance("--paper") < 0.5,
          text: contrast("--ink"),
          muted: contrast("--muted"),
          series: ["--blue", "--orange", "--green", "--purple", "--grey", "--red"].map(contrast),
        };
      },
      flag,
    );
    expect(dark).toBe(scheme === "dark");
    expect(text).toBeGreaterThan(7);
    expect(muted).toBeGreaterThan(4.5);
    for (const one of series) expect(one).toBeGreaterThan(3);
  });
});

describe.skipIf(missing)(`Chromium${missing ? ` (${missing})` : ""}`, () => {
  test("would tell of complaints and of what a page asks for", () => {
    const page = '<!doctype html><title></title><body><script src="https://example.com/x.js"></script><script>x()</script></body>';
    expect(browse(put("bad.html", page)).console.join("\n")).toMatch(/x is not defined/);
    expect(found(page, () => performance.getEntriesByType("resource").map((entry) => entry.name))).toEqual(["https://example.com/x.js"]);
  });

  test("runs nothing that a file has for a name", async () => {
    const evil = `<script>document.body.textContent = "owned"</script><img src=x onerror="document.body.textContent = 'owned'">`;
    const file = JSON.parse(JSON.stringify(FILES.report).replaceAll("A processor", JSON.stringify(evil).slice(1, -1)));
    const page = drawPage([await runOf(file)], "1.2.3");
    const { dom, console: said } = browse(put("evil.html", page));
    expect(said).toEqual([]);
    expect(dom.match(/<figure>/g)?.length).toBe(page.match(/<figure>/g)?.length);
  });
});
