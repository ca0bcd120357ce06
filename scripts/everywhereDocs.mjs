// Generates the tables of docs/everywhere.md from bench/results/everywhere.json and fuzz-ledger.json. `npm run everywhere` and `npm run docs`
// run it. With --check it writes nothing, and exits with 1 if the page is out of date.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fillTables } from "./docTables.mjs";

const results = join(dirname(fileURLToPath(import.meta.url)), "../bench/results");
const read = (name) => (existsSync(join(results, name)) ? JSON.parse(readFileSync(join(results, name), "utf8")) : undefined);

const TOTAL = "";
const SAID = { different: "**different**", failed: "failed", missing: "missing", "not measured": "not measured" };

fillTables("docs/everywhere.md", {
  configurations() {
    const { rows, expected, machine, date } = read("everywhere.json");
    const equal = rows.filter(({ status }) => status === "equal");
    const groups = [...new Set(rows.map(({ group }) => group))];
    return [
      `**${equal.length} configurations, one hash**, and ${count(rows, "different")} with another one. Measured on ${date}, on ${machine.processors} processors ${machine.processor} unless a row names another machine.`,
      "",
      ...Object.entries(expected).map(([size, hash]) => `- ${size} corpus: \`${hash}\``),
      ...groups.flatMap((group) => [
        "",
        `### ${group}`,
        "",
        "| configuration | version | corpus | seconds | hash |",
        "| --- | --- | --- | ---: | --- |",
        ...rows.filter((row) => row.group === group).map(line),
      ]),
    ].join("\n");
  },
  fuzz() {
    const ledger = read("fuzz-ledger.json");
    if (!ledger) return "No campaign has been recorded.";
    const families = new Map();
    for (const { what, family, cases, elements, seconds } of ledger.entries) {
      if (!families.has(family)) families.set(family, new Map());
      for (const name of [what, TOTAL]) {
        const sum = families.get(family).get(name) ?? [0, 0, 0];
        families.get(family).set(name, [sum[0] + cases, sum[1] + elements, sum[2] + seconds]);
      }
    }
    const row = (name, numbers) => `| ${name} | ${numbers.map((n) => grouped(Math.round(n))).join(" | ")} |`;
    return [
      "| what | cases | elements | seconds |",
      "| --- | ---: | ---: | ---: |",
      ...[...families].flatMap(([family, rows]) => [
        row(`**${family}**`, rows.get(TOTAL)),
        ...[...rows].filter(([name]) => name !== TOTAL).map(([name, numbers]) => row(name, numbers)),
      ]),
    ].join("\n");
  },
});

function count(rows, wanted) {
  return rows.filter(({ status }) => status === wanted).length || "none";
}

function line({ name, version, corpus, seconds, status, hashes, routines, reason, wrong }) {
  const hash = hashes
    ? Object.values(hashes)
        .map((each) => `\`${each.slice(0, 12)}\``)
        .join(" ")
    : routines && `equal in its ${routines.length} routines`;
  const cell =
    status === "equal"
      ? hash
      : `${SAID[status]}${reason ? `: ${reason.replaceAll("|", "\\|").slice(0, 120)}` : ""}${wrong ? ` in ${wrong.join(", ")}` : ""}`;
  return `| ${name} | ${short(version)} | ${corpus ?? ""} | ${seconds?.toFixed(1) ?? ""} | ${cell} |`;
}

// Of a browser's line about itself, its name and number.
function short(version = "") {
  return version.replace(/ built on .*/, "").trim();
}

function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}
