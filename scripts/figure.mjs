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

const [start, left, right, middle, height] = [24, 88, 696, 108, 62];
const largest = Math.max(...results.map(({ loop }) => Math.abs(loop - exact)));
// The exact sum and a round difference on either side: one, two or five times a power of ten.
const power = 10 ** Math.floor(Math.log10(largest));
const step = power * [5, 2, 1].find((m) => m * power <= largest);
const tick = (difference) => {
  const y = middle - (difference / largest) * height;
  const sign = difference > 0 ? "+" : "\u2212";
  const label = difference === 0 ? "exact" : `${sign}${mantissa(step)}`;
  return `<line class="${difference === 0 ? "axis" : "grid"}" x1="${left}" x2="${right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/>
<text class="small" text-anchor="end" x="${left - 8}" y="${(y + 4).toFixed(1)}">${label}</text>`;
};
const mantissa = (v) => {
  const [digits, exponent] = v.toExponential(0).split("e");
  return `${digits}\u00b710<tspan dy="-4" font-size="9">${exponent.replace("-", "\u2212").replace("+", "")}</tspan>`;
};
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
.grid { stroke: #59636e; stroke-width: 1; opacity: 0.3; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  .loop { fill: #ff9a57; }
  .exact { fill: #58a6ff; }
  .axis { stroke: #58a6ff; }
  .grid { stroke: #9198a1; }
}
</style>
<text x="${start}" y="24">The same ${COUNT.toLocaleString("en-US")} numbers, added in ${ORDERS} different orders</text>
${[step, 0, -step].map(tick).join("\n")}
${results.map(dot("loop")).join("\n")}
${results.map(dot("exact")).join("\n")}
<circle class="loop" cx="${start + 4}" cy="190" r="4.5"/><text x="${start + 16}" y="195">a loop: ${different} different results</text>
<circle class="exact" cx="294" cy="190" r="4.5"/><text x="306" y="195">exsum: always ${exact}, correctly rounded</text>
<text class="small" x="${start}" y="215">Height: the distance from exsum. Every point is a sum of the same amounts of money, in binary64.</text>
</svg>
`;

if (!process.argv.includes("--check")) writeFileSync(FILE, svg);
else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== svg) {
  console.error("docs/orders.svg is out of date: npm run docs");
  process.exitCode = 1;
}
