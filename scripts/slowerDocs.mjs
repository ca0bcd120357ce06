// Generates the tables of docs/slower.md from the files in bench/results. `npm run docs` runs it. With --check it writes nothing, and exits
// with 1 if the page is out of date.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fillTables } from "./docTables.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const results = (name) => JSON.parse(readFileSync(join(root, "bench/results", name), "utf8"));
// Of runs that may be missing: their limits, none of a file that is not there.
const limitsOf = (name) => (existsSync(join(root, "bench/results", name)) ? results(name).limits : []);
const [vectors, dense, sparse, gpu] = ["level1-20.json", "dense-20.json", "sparse-20.json", "gpu-h200-20.json"].map(results);

const TABLES = {
  vectors: () => {
    const lengths = [10, 100, 1000, 10_000, 100_000, 1_000_000, 16_000_000];
    const row = (op, engine, memory) => [
      `\`ex${op}\`, ${engine === "fma" ? "fused multiply-add" : "without"}, ${memory}`,
      ...lengths.map((n) =>
        ratio(found(vectors.cases, { op, n, kind: "well-conditioned" }).rivals, `wasm-${engine}, ${memory}`, "OpenBLAS"),
      ),
    ];
    const rows = ["dot", "sum", "nrm2"].flatMap((op) =>
      ["fma", "dekker"].flatMap((engine) => ["engine memory", "ordinary array"].map((memory) => row(op, engine, memory))),
    );
    // A sum has no products: both builds are equally fast.
    const rounded = rows.filter(([name]) => !(name.includes("exsum") && name.includes("without")));
    return table(["n =", ...lengths.map(grouped)], rounded);
  },
  matrices: () => {
    const sizes = { gemv: [4, 16, 64, 4096], trsv: [4, 16, 64, 4096], lu: [4, 16, 64, 1024], gemm: [512] };
    const all = [4, 16, 64, 512, 1024, 4096];
    const rows = Object.entries(sizes).flatMap(([op, orders]) =>
      ["fma", "dekker"].map((engine) => [
        `\`ex${op}\`, ${engine === "fma" ? "fused multiply-add" : "without"}`,
        ...all.map((n) => (orders.includes(n) ? ratio(plainCase(op, n).rivals, `wasm-${engine}, ordinary array`, "OpenBLAS") : "")),
      ]),
    );
    return table(["n =", ...all.map(grouped)], rows);
  },
  cancellation: () => {
    const rows = [...vectors.limits, ...dense.limits].filter(({ row }) => row.includes("condition 1e30 / well-conditioned"));
    return table(
      ["", "time relative to well-conditioned data"],
      rows.map(({ row, value }) => [row.replace(" / well-conditioned", ""), digits(value)]),
    );
  },
  sparse: () => {
    const rows = sparse.limits.filter(({ row }) => row.includes("/ CXSparse"));
    return table(
      ["", "time relative to CXSparse"],
      rows.map(({ row, value }) => [row.replace(" / CXSparse", ""), digits(value)]),
    );
  },
  krylov: () => {
    const onHost = limitsOf("krylov-20.json").map(({ row, value }) => [row, digits(value)]);
    const onDevice = limitsOf("krylov-h200-20.json")
      .filter(({ row, value }) => value !== undefined && /SpMV|cuSPARSE/.test(row))
      .map(({ row, value, atLeast }) => [row, digits(atLeast ? 1 / value : value)]);
    const rows = [...onHost, ...onDevice].map(([row, value]) => {
      const [, ours, theirs, rest] = row.match(/^(.*) \/ (.*?), (.*)$/);
      return [`${ours}, ${rest}`, theirs, value];
    });
    return rows.length === 0 ? "Not measured yet." : table(["", "compared with", "relative time"], rows);
  },
  gpu: () => {
    const speeds = gpu.limits.filter(({ row }) => row.includes("/ cuBLAS"));
    const sums = speeds.map(({ row, value }) => [
      row.replace(" / cuBLAS", ""),
      row.startsWith("exsum") ? "cuBLAS Dasum" : "cuBLAS Ddot",
      digits(1 / value),
    ]);
    const rows = [gpu.gemv, gpu.trsv, gpu.gemm, gpu.lu, gpu.luBatch].flat().map(({ op, form, rows, cols, rivals }) => {
      const theirs = rivals.find(({ name }) => /^cu[BS]/.test(name));
      const what = [`ex${op}`, form === "as it is" ? "" : form, `${grouped(rows)} x ${grouped(cols)}`].filter(Boolean).join(", ");
      return [what, theirs.name, digits(rivals.find(({ name }) => name.startsWith("ours")).median / theirs.median)];
    });
    return table(["", "compared with", "relative time"], [...sums, ...rows]);
  },
};

fillTables("docs/slower.md", TABLES);

function found(cases, wanted) {
  const one = cases.find((candidate) => Object.entries(wanted).every(([key, value]) => candidate[key] === value));
  if (!one) throw new Error(`docs/slower.md: no results for ${JSON.stringify(wanted)}`);
  return one;
}

function plainCase(op, n) {
  return found(dense.cases, { op, n, kind: "well-conditioned", form: op === "trsv" ? "lower" : "" });
}

// The ratio of medians of one run. OpenBLAS has kernels for several processors: the fastest of those measured counts.
function ratio(rivals, ours, theirs) {
  const medians = (part) => rivals.filter(({ name }) => name.includes(part)).map(({ median }) => median);
  return digits(medians(ours)[0] / Math.min(...medians(theirs)));
}

function grouped(n) {
  return n.toLocaleString("en");
}

function digits(value) {
  return value < 9.95 ? value.toFixed(value < 0.995 ? 2 : 1) : value.toFixed(0);
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
