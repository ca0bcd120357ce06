// Draws docs/orders.svg, the figure of the README: the same numbers added in many orders, by a loop and by exsum. The data are computed, and
// the same on every machine. `npm run docs` runs it; with --check it writes nothing, and exits with 1 if the file is out of date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exsum } from "../dist/index.js";

const FILE = join(dirname(fileURLToPath(import.meta.url)), "../docs/orders.svg");
const COUNT = 100_000;
const ORDERS = 64;

// A linear congruential generator, with 32 bits of state.
let state = 1;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};

// Amounts of money of both signs.
const x = Float64Array.from({ length: COUNT }, () => (below(2_000_001) - 1_000_000) / 100);
const results = Array.from({ length: ORDERS }, () => {
  for (let i = COUNT - 1; i > 0; i--) {
    const j = below(i + 1);
    [x[i], x[j]] = [x[j], x[i]];
  }
  let sum = 0;
  for (const v of x) sum += v;
  return { loop: sum, exact: exsum(x) };
});
const exact = results[0].exact;
const different = new Set(results.map(({ loop }) => loop)).size;
if (new Set(results.map((result) => result.exact)).size !== 1) throw new Error("exsum depends on the order");

const [left, right, middle, height] = [24, 696, 108, 62];
const largest = Math.max(...results.map(({ loop }) => Math.abs(loop - exact)));
const at = (k) => (left + ((right - left) * (k + 0.5)) / ORDERS).toFixed(1);
const dot = (kind) => (result, k) =>
  `<circle class="${kind}" cx="${at(k)}" cy="${(middle - ((result[kind] - exact) / largest) * height).toFixed(1)}" r="3.2"/>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 222" role="img" aria-label="${COUNT.toLocaleString("en-US")} numbers added in ${ORDERS} orders: a loop returns ${different} different results, exsum always the same">
<style>
text { font: 15px system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 13px; fill: #59636e; }
.loop { fill: #d1570b; }
.exact { fill: #0a66c2; }
.axis { stroke: #0a66c2; stroke-width: 1; opacity: 0.4; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  .loop { fill: #ff9a57; }
  .exact { fill: #58a6ff; }
  .axis { stroke: #58a6ff; }
}
</style>
<text x="${left}" y="24">The same ${COUNT.toLocaleString("en-US")} numbers, added in ${ORDERS} different orders</text>
<line class="axis" x1="${left}" x2="${right}" y1="${middle}" y2="${middle}"/>
${results.map(dot("loop")).join("\n")}
${results.map(dot("exact")).join("\n")}
<circle class="loop" cx="${left + 4}" cy="190" r="4.5"/><text x="${left + 16}" y="195">a loop: ${different} different results</text>
<circle class="exact" cx="294" cy="190" r="4.5"/><text x="306" y="195">exsum: always ${exact}, correctly rounded</text>
<text class="small" x="${left}" y="215">Height: the result. Every point is a sum of the same amounts of money, in binary64.</text>
</svg>
`;

if (!process.argv.includes("--check")) writeFileSync(FILE, svg);
else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== svg) {
  console.error("docs/orders.svg is out of date: npm run docs");
  process.exitCode = 1;
}
