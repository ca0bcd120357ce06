// The table of hashes for every engine, number of threads and schedule.
import { type Bits, type BitsRow, disagreements } from "../measure/bits.ts";
import { type Html, html } from "./html.ts";

// The hexadecimal digits of a hash to show; its tooltip has all of them.
const SHOWN = 8;

// The routine that has schedules.
const SCHEDULED = "sptrsv";

export function drawBits(bits: Bits): Html {
  const { rows } = bits;
  const different = disagreements(bits);
  const ran = rows.filter(({ missing }) => missing === undefined);
  const all = new Set(ran.flatMap(({ hashes }) => Object.keys(hashes)));
  const count = ran.reduce((sum, { hashes }) => sum + Object.keys(hashes).length, 0);
  const verdict =
    different.length === 0
      ? html`<p class="verdict good">✓ All ${count} hashes agree: ${ran.length} combinations of engine, threads and schedule, ${all.size} routines.</p>`
      : html`<p class="verdict bad">✗ Not all engines agree on ${different.join(", ")}.</p>`;
  const dense = [...all].filter((name) => name !== SCHEDULED);
  const engines = [...new Set(rows.map(({ engine }) => engine))].map((engine) => rows.filter((row) => row.engine === engine));
  const schedules = [...new Set(ran.filter(({ hashes }) => SCHEDULED in hashes).map(({ schedule }) => schedule))];
  return html`${verdict}
<p>SHA-256 of the results' bits as little-endian bytes, first ${SHOWN} digits (hover over a hash to see all of it). Inputs: ${bits.inputs}.</p>
${hashTable(
  dense,
  engines,
  (own, name) => own.find(({ hashes }) => name in hashes)?.hashes[name],
  (name) => different.includes(name),
)}
<p>${SCHEDULED} with every schedule. On a single JavaScript thread all schedules run serially.</p>
${hashTable(
  schedules,
  engines.filter(([first]) => first?.missing === undefined),
  (own, schedule) => own.find((row) => row.schedule === schedule)?.hashes[SCHEDULED],
  () => different.includes(SCHEDULED),
)}`;
}

// One row per engine, with a hash in each column that applies.
function hashTable(
  heads: readonly string[],
  engines: readonly (readonly BitsRow[])[],
  hashOf: (own: readonly BitsRow[], head: string) => string | undefined,
  isBad: (head: string) => boolean,
): Html {
  const cell = (hash: string | undefined, head: string): Html =>
    hash === undefined
      ? html`<td></td>`
      : html`<td class="${isBad(head) ? "bad" : "good"}"><code title="${hash}">${hash.slice(0, SHOWN)}</code></td>`;
  const body = engines.map((own) => {
    const missing = own[0]?.missing;
    const cells =
      missing === undefined
        ? heads.map((head) => cell(hashOf(own, head), head))
        : [html`<td colspan="${heads.length}" class="missing">${missing}</td>`];
    return html`<tr><th scope="row">${own[0]?.engine}</th>${cells}</tr>`;
  });
  return html`<div class="scroll"><table class="bits">
<thead><tr><th scope="col">engine</th>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${body}</tbody>
</table></div>`;
}
