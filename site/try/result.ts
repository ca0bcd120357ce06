// The result of the part "Try": ordinary arithmetic beside the exact result, the bits of both, the hash and the times.
import type { Client } from "../page/client.ts";
import { copy, duration, grouped, h } from "../page/dom.ts";
import { decimal, drawBits, ulpsBetween, wrongBits } from "./bits.ts";
import type { Answer } from "./operations.ts";

const MAX_ROWS = 100; // of the table; the counts and the hash cover all

export function drawResult(answer: Answer, client: Client): Node[] {
  const { exact, ordinary, shape } = answer;
  if (exact.length === 0) return [h("p", { class: "empty" }, "The result is empty."), facts(answer, client)];
  const usual = typeof ordinary === "string" ? undefined : ordinary;
  const wrong = usual === undefined ? 0 : countWrong(usual, exact);
  const pair = h("div", { class: "pair" });
  const choose = (k: number): void => pair.replaceChildren(...drawPair(answer, k));
  const first = usual === undefined ? 0 : worst(usual, exact);
  choose(first);
  return [
    h("p", { class: `verdict ${wrong > 0 ? "bad" : "good"}`, aria: { role: "status" } }, verdict(answer, wrong, first)),
    pair,
    ...(shape.length === 0 ? [] : [table(answer, first, choose)]),
    facts(answer, client),
  ];
}

function verdict({ exact, isExact, ordinary, shape }: Answer, wrong: number, first: number): string {
  if (typeof ordinary === "string") return `Ordinary arithmetic: ${ordinary}.`;
  if (wrong === 0)
    return exact.length === 1 ? "Ordinary arithmetic is right to the last bit here." : "Here ordinary arithmetic has the same bits.";
  if (shape.length > 0) {
    const all = `${grouped(wrong)} of ${grouped(exact.length)} numbers`;
    return `Ordinary arithmetic has other bits in ${all}${isExact ? `; ${nameOf(first, shape)} is the worst.` : "."}`;
  }
  const [x, right] = [ordinary[0] as number, exact[0] as number];
  if (Number.isNaN(x)) return "Ordinary arithmetic ends with no number at all.";
  if (Math.abs(x) === Number.POSITIVE_INFINITY) return "Ordinary arithmetic overflows on the way.";
  return `${wrongBits(x, right)} of the 64 bits of ordinary arithmetic are wrong${errorOf(x, right)}.`;
}

// How far off it is, in the unit that says most.
function errorOf(x: number, right: number): string {
  const ulps = ulpsBetween(x, right);
  if (ulps === undefined) return "";
  if (ulps <= 1000n) return ulps === 1n ? ": it is off by one unit in the last place" : `: it is off by ${ulps} units in the last place`;
  const error = Math.abs((x - right) / right);
  if (!Number.isFinite(error)) return "";
  return error >= 1e-3 && error < 100
    ? `: an error of ${Number((100 * error).toPrecision(2))} %`
    : `: a relative error of ${decimal(Number(error.toPrecision(1)))}`;
}

/** The component in which ordinary arithmetic is farthest off, relative to the right one. */
function worst(x: Float64Array, right: Float64Array): number {
  let [at, largest] = [0, -1];
  for (let k = 0; k < right.length; k++) {
    if (Object.is(x[k], right[k])) continue;
    const error = Math.abs((x[k] as number) - (right[k] as number)) / Math.abs(right[k] as number);
    const size = error === error ? error : Number.POSITIVE_INFINITY;
    if (size > largest) [at, largest] = [k, size];
  }
  return at;
}

function countWrong(x: Float64Array, right: Float64Array): number {
  let count = 0;
  for (let k = 0; k < right.length; k++) if (!Object.is(x[k], right[k])) count++;
  return count;
}

// From 1, as in mathematics.
function nameOf(k: number, shape: readonly number[]): string {
  const cols = shape[1];
  return cols === undefined ? `number ${k + 1}` : `row ${Math.floor(k / cols) + 1}, column ${(k % cols) + 1}`;
}

function drawPair({ exact, isExact, ordinary, shape }: Answer, k: number): Node[] {
  const right = exact[k] as number;
  const title = shape.length === 0 ? "" : `, ${nameOf(k, shape)}`;
  const card = (kind: string, name: string, x: number | undefined): HTMLElement =>
    h(
      "div",
      { class: `card ${kind}` },
      h("h2", {}, name, shape.length > 0 && h("small", {}, title.slice(2))),
      h("output", { class: "number" }, x === undefined ? "not computed" : decimal(x)),
      x !== undefined && drawBits(x, name, kind === "ordinary" ? right : undefined),
    );
  return [
    card("ordinary", "Ordinary arithmetic", typeof ordinary === "string" ? undefined : ordinary[k]),
    card("exact", "halfulp", right),
    h(
      "p",
      { class: "hint legend" },
      h("span", { class: "bits-sign" }, "sign"),
      h("span", { class: "bits-exponent" }, "exponent"),
      h("span", { class: "bits-fraction" }, "fraction"),
      h("span", {}, h("b", { class: "wrong" }, "1"), isExact ? " a bit that is wrong" : " a bit that differs"),
    ),
  ];
}

function table({ exact, isExact, ordinary, shape }: Answer, chosen: number, choose: (k: number) => void): HTMLElement {
  const body = h("tbody");
  const count = Math.min(exact.length, MAX_ROWS);
  const cols = shape[1];
  for (let k = 0; k < count; k++) {
    const right = exact[k] as number;
    const x = typeof ordinary === "string" ? undefined : (ordinary[k] as number);
    const wrong = x === undefined ? 0 : wrongBits(x, right);
    const label = cols === undefined ? String(k + 1) : `${Math.floor(k / cols) + 1}, ${(k % cols) + 1}`;
    const button = h(
      "button",
      { type: "button", class: "quiet", aria: { pressed: String(k === chosen), label: `Show the bits of ${nameOf(k, shape)}` } },
      label,
    );
    button.addEventListener("click", () => {
      for (const other of body.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
      choose(k);
    });
    body.append(
      h(
        "tr",
        {},
        h("td", {}, button),
        h("td", { class: "number" }, x === undefined ? "" : decimal(x)),
        h("td", { class: "number" }, decimal(right)),
        h("td", { class: wrong > 0 ? "number bad" : "number" }, x === undefined ? "" : String(wrong)),
      ),
    );
  }
  const head = h(
    "thead",
    {},
    h(
      "tr",
      {},
      ...["", "ordinary", "halfulp", isExact ? "wrong bits" : "other bits"].map((name) => h(name === "" ? "td" : "th", {}, name)),
    ),
  );
  const more =
    exact.length > count && h("p", { class: "hint" }, `The first ${count} of ${grouped(exact.length)}. The hash covers all of them.`);
  return h(
    "div",
    {},
    h("div", { class: "scroll", tabIndex: 0, aria: { role: "region", label: "All numbers" } }, h("table", {}, head, body)),
    more,
  );
}

function facts({ sha256, exactTime, ordinaryTime, ordinary, device, notes, exact, shape }: Answer, client: Client): HTMLElement {
  const hash = h("code", { class: "hash" }, sha256);
  const copyHash = h("button", { type: "button", class: "quiet" }, "Copy");
  copyHash.addEventListener("click", () => copy(copyHash, sha256, hash));
  const save = h("button", { type: "button", class: "quiet" }, "Save as .npy");
  save.addEventListener("click", async () => {
    const bytes = await client.call("npy", { data: exact, shape });
    const url = URL.createObjectURL(new Blob([bytes]));
    h("a", { href: url, download: "result.npy" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
  const rows: [string, Node][] = [
    ["Hash", h("span", {}, hash, " ", copyHash, " ", save, h("span", { class: "hint block" }, "what halfulp hash prints for this result"))],
    [
      "Time",
      h(
        "span",
        {},
        duration(exactTime),
        typeof ordinary !== "string" && h("span", { class: "hint" }, ` (ordinary: ${duration(ordinaryTime)})`),
      ),
    ],
    ["Engine", h("span", {}, device)],
    ...notes.map((note, k): [string, Node] => [k === 0 ? "Notes" : "", h("span", {}, note)]),
  ];
  return h("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
