import { describe, expect, test } from "vitest";
import { drawPage } from "../../src/report/draw/page.ts";
import { document } from "../../src/report/draw/plotting.ts";
import { convergence, FILES, origin, runOf, stages } from "./data.ts";

const page = async (...files: unknown[]): Promise<string> => drawPage(await Promise.all(files.map((file) => runOf(file))), "1.2.3");

/** The figures of a page: title, text of the drawing, drawing. */
function figuresOf(text: string): { title: string; svg: string; element: Element }[] {
  return [...text.matchAll(/<figure>\s*<h3>(.*?)<\/h3>.*?(<svg role="img".*?<\/svg>)\s*<figcaption>/gs)].map(([, title = "", svg = ""]) => {
    const holder = document.createElement("div") as unknown as Element;
    holder.innerHTML = svg;
    return { title, svg, element: holder.firstElementChild as Element };
  });
}

// Elements that are opened are closed, in order.
function checkNesting(svg: string): void {
  const open: string[] = [];
  for (const [, close, name = "", own] of svg.matchAll(/<(\/?)([a-zA-Z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (close) expect(open.pop()).toBe(name);
    else if (!own) open.push(name);
  }
  expect(open).toEqual([]);
}

const marks = (element: Element, label: string): Element[] => Array.from(element.querySelectorAll(`g[aria-label="${label}"]`));

describe("figures", () => {
  const TITLES: Readonly<Record<string, readonly string[]>> = {
    accuracy: [
      "Matrix times vector",
      "Triangular systems",
      "Triangular systems with a representable solution",
      "LU factorization and solve",
    ],
    "sparse-tables": ["GFLOPS", "set-up", "solves until it pays off"].map((what) => `2-D Laplacians with 5 points: ${what}`),
    "solve-tables": [
      "Without a GPU, on A processor: Gflop/s",
      "Without a GPU, on A processor: refinement steps",
      "CPU and GPU, A GPU: Gflop/s",
      "CPU and GPU, A GPU: refinement steps",
      "Ill-conditioned systems: which method succeeds",
    ],
    "gpu-a-gpu": ["A GPU: speed compared with cuBLAS and cuSOLVER", "A GPU: sparse triangular solves", "Stages of exsum on A GPU"],
    dense: ["exdot compared with others"],
    solve: ["solve compared with others"],
    sparse: ["sptrsv compared with others"],
    level1: ["Stages of exsum on A processor", "Stages of exgemv on A processor", "exdot compared with others"],
  };
  test.each(Object.entries(TITLES))("of %s", async (kind, titles) => {
    const figures = figuresOf(await page(FILES[kind as keyof typeof FILES]));
    expect(figures.map(({ title }) => title)).toEqual(titles);
    for (const { title, svg } of figures) {
      checkNesting(svg);
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
      expect(svg).toMatch(/^<svg role="img" aria-label="[^"]*"[^>]*><title>/);
      expect(svg).toContain(`aria-label="${title}. `);
    }
  });

  test("of errors: a line for each method, a mark for each point", async () => {
    const [gemv, trsv] = figuresOf(await page(FILES.accuracy));
    expect(marks(gemv?.element as Element, "line").length).toBe(2);
    // small marks: 6 points a method; larger ones: 3 conditions
    expect(marks(gemv?.element as Element, "dot").map((g) => g.children.length)).toEqual([6, 3, 6, 3]);
    expect(marks(trsv?.element as Element, "line").length).toBe(5);
  });

  test("of stages: four panels with the lines that belong there", async () => {
    const [sum] = figuresOf(await page({ ...origin("report"), stages }));
    const lines = marks(sum?.element as Element, "line").map((g) => g.querySelectorAll("path").length);
    // plain, superaccumulator and certified in all panels; fpe2 and fpe8 with and without early exit
    expect(lines).toEqual([4, 4, 4, 4, 4]);
  });

  test("of one size: the stages side by side", async () => {
    const one = stages.filter(({ n, op }) => n === 16 && op === "sum");
    const [sum] = figuresOf(await page({ ...origin("report"), stages: one }));
    expect(sum?.title).toBe("Stages of exsum, n = 16, on A processor");
    expect(marks(sum?.element as Element, "dot").map((g) => g.querySelectorAll("circle, path").length)).toEqual([8, 8]);
  });

  test("of a GPU: a bar for each case, with its number", async () => {
    const [bars] = figuresOf(await page(FILES["gpu-a-gpu"]));
    expect(marks(bars?.element as Element, "bar").map((g) => g.children.length)).toEqual([4]);
    expect(bars?.svg).toMatch(/>1\.2</); // 6 ms beside 5 ms
  });

  test("of convergence: a line for each curve, some symbols, and the numbers", async () => {
    const text = await page({ ...origin("report"), convergence });
    const figures = figuresOf(text);
    expect(figures.map(({ title }) => title)).toEqual(["Laplacian, 8 x 8"]);
    const [{ svg, element }] = figures as [(typeof figures)[number]];
    checkNesting(svg);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg).toContain("Residual against iterations, for cg; cg, ilu0; bicgstab, jacobi; gmres, ilu0");
    expect(marks(element, "line").map((g) => g.querySelectorAll("path").length)).toEqual([1, 1, 1, 1]);
    expect(marks(element, "dot").map((g) => g.querySelectorAll("circle, path").length)).toEqual([8, 6, 7, 5]);
    const strokes = marks(element, "line").map((g) => [g.getAttribute("stroke"), g.getAttribute("stroke-dasharray")]);
    expect(strokes).toEqual([
      ["var(--blue)", "2 3"],
      ["var(--blue)", null],
      ["var(--orange)", "7 3"],
      ["var(--green)", null],
    ]);
    expect(text).toMatch(/<td>bicgstab<\/td>\s*<td>jacobi<\/td>\s*<td class="number">40<\/td>\s*<td>maxIterations<\/td>/);
  });

  test("of the sparse schedules: what is missing is named", async () => {
    const text = await page(FILES["sparse-tables"]);
    expect(text).toContain("2 x 32 was not measured: no memory");
    const [gflops, , pays] = figuresOf(text);
    expect(marks(gflops?.element as Element, "dot").reduce((sum, g) => sum + g.querySelectorAll("circle, path").length, 0)).toBe(24);
    expect(marks(pays?.element as Element, "dot").reduce((sum, g) => sum + g.querySelectorAll("circle, path").length, 0)).toBe(16);
  });

  test("with nothing to draw there are none", async () => {
    const text = await page(origin("report"));
    expect(text).not.toContain("<figure>");
    expect(await page({ ...origin("report"), stages: [], solve: { cpu: { rows: [] } }, bits: { inputs: "", rows: [] } })).not.toContain(
      "<figure>",
    );
  });
});

describe("the page", () => {
  test("says where its numbers come from", async () => {
    const text = await page(FILES.report);
    for (const words of ["A processor, 2 processors, 8 GiB, Linux 6, x64", "node 20.0.0", "2026-01-02 03:04", "abc", "halfulp 1.2.3"])
      expect(text).toContain(words);
    expect(text).toContain("Something: it is not here");
  });

  test("has all hashes, and says that they agree", async () => {
    const text = await page(FILES.report);
    expect(text).toContain("✓ All 5 hashes agree: 3 combinations of engine, threads and schedule, 2 routines.");
    expect(text.match(/<code title="[0-9a-f]{64}">/g)?.length).toBe(5);
    expect(text).toContain("no OpenCL here");
  });

  test("says so where they do not", async () => {
    const { bits } = FILES.report;
    const rows = bits.rows.map((row, k) => (k === 2 ? { ...row, hashes: { sptrsv: "00" } } : row));
    const text = await page({ ...FILES.report, bits: { ...bits, rows } });
    expect(text.match(/✗ Not all engines agree on sptrsv\./g)?.length).toBe(2);
    expect(text).not.toContain("✓");
  });

  test("holds several runs", async () => {
    const text = await page(FILES.accuracy, FILES["gpu-a-gpu"], FILES["solve-tables"]);
    expect(figuresOf(text).length).toBe(12);
    expect(text.match(/<details><summary>Source: /g)?.length).toBe(3);
  });

  test("needs nothing from outside, and has no scripts", async () => {
    const text = await page(...Object.values(FILES));
    const addresses = [...text.matchAll(/https?:[^"'\s<)]*/g)].map(([address]) => address);
    expect([...new Set(addresses)].every((address) => address.startsWith("http://www.w3.org/"))).toBe(true);
    expect(text).not.toMatch(/<script|<iframe|<img|@import|url\(|\bon[a-z]+=/);
  });

  test("shows names from files as text, whatever they are", async () => {
    const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>\u0000\ud800&`;
    const bad = JSON.parse(
      JSON.stringify(FILES.report)
        .replaceAll("A processor", "PLACE")
        .replaceAll('"8 x 8"', '"PLACE"')
        .replaceAll("well-conditioned", "PLACE")
        .replaceAll("one thread", "PLACE")
        .replaceAll("plain TypeScript", "PLACE")
        .replaceAll('"exsum"', '"PLACE"')
        .replaceAll("it is not here", "PLACE")
        .replaceAll("PLACE", JSON.stringify(evil).slice(1, -1)),
    );
    const text = await page(bad, { ...FILES["gpu-a-gpu"], device: { name: evil } });
    expect(text).not.toMatch(/<script|<img/);
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    for (const c of ["\u0000", "\ud800"]) expect(text.includes(c)).toBe(false);
    for (const { svg } of figuresOf(text)) checkNesting(svg);
  });
});
