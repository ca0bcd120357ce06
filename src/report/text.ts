// The measurements as text for a terminal. Called by halfulp bench.
import { ACCURACY_CURVES, methodsOf, worst } from "./measure/accuracy.ts";
import { disagreements } from "./measure/bits.ts";
import { PRECONDITIONERS } from "./measure/convergence.ts";
import { SCHEDULES } from "./measure/sparse.ts";
import { OPERATIONS, type StagedOperation } from "./measure/stages.ts";
import type { Parts, Run } from "./read.ts";

/** All tables, without the final newline. */
export function textOf({ origin, parts }: Run): string {
  const { machine, versions, engine } = origin;
  const known = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const where = [`${machine.processor}, ${machine.processors} processors`, ...known, ...(engine ? [engine] : [])].join("; ");
  const tables = [
    bits(parts),
    accuracy(parts),
    stages(parts),
    sparse(parts),
    convergence(parts),
    solves(parts),
    (parts.missing ?? []).map((one) => `Not measured. ${one}`),
  ];
  return [[where], ...tables.filter((lines) => lines.length > 0)].map((lines) => lines.join("\n")).join("\n\n");
}

function bits({ bits: found }: Parts): string[] {
  if (!found) return [];
  const different = disagreements(found);
  const ran = found.rows.filter(({ missing }) => missing === undefined);
  const engines = [...new Set(ran.map(({ engine }) => engine))];
  const verdict = different.length === 0 ? "all equal" : `NOT equal: ${different.join(", ")}`;
  const absent = found.rows.flatMap(({ missing }) => (missing === undefined ? [] : [`  not available: ${missing}`]));
  const title = `Bits: ${ran.length} combinations of engine, threads and schedule: ${verdict}`;
  return [title, ...engines.map((engine) => `  ${engine}`), ...absent];
}

function accuracy({ accuracy: found }: Parts): string[] {
  if (!found) return [];
  return ACCURACY_CURVES.flatMap((which, k) => {
    const curve = found[which];
    const methods = methodsOf(curve);
    const asked = [...new Set(curve.points.map((point) => point.asked))];
    const rows = asked.map((one) => [one.toExponential(0), ...methods.map((method) => worst(curve, one, method).toExponential(1))]);
    const title = `Relative forward errors of ${which}, n = ${curve.n}, against the condition number`;
    return [...(k === 0 ? [] : [""]), title, ...columns(["", ...methods], rows)];
  });
}

// The largest size of each operation.
function stages({ stages: races }: Parts): string[] {
  if (!races) return [];
  const largest = races.filter(({ op, n }) => races.every((other) => other.op !== op || other.n <= n));
  const names = largest[0]?.stages.map(({ name }) => name) ?? [];
  const rows = names.map((name) => [
    name,
    ...largest.map(({ op, n, stages: timings }) => {
      const timing = timings.find((one) => one.name === name);
      return timing ? digits(timing.min / OPERATIONS[op as StagedOperation].terms(n)) : "";
    }),
  ]);
  const heads = largest.map(({ op, n, kind }) => `${op} ${n}${kind.startsWith("condition") ? " 1e30" : ""}`);
  return ["Nanoseconds per term for each stage alone; columns show n, and 1e30 if that is the condition", ...columns(["", ...heads], rows)];
}

function sparse({ sparse: tables }: Parts): string[] {
  if (!tables) return [];
  const rows = tables.groups.flatMap(({ title, cases }) =>
    cases.flatMap(({ name, schedules = [] }) =>
      ["plain", "exact"].map((mode) => [
        `${name}, ${title.replace(/.* with /, "")}, ${mode}`,
        ...SCHEDULES.map((schedule) => {
          const row = schedules.find((one) => one.mode === mode && one.schedule === schedule);
          return row ? `${digits(row.gflops)} (${digits(row.setUpInSolves)}, ${row.paysAgainst.serial ?? "-"})` : "";
        }),
      ]),
    ),
  );
  const title = `Sparse solves, ${tables.engine}: GFLOPS (set-up time in solves, number of solves from which it beats serial)`;
  return [title, ...columns(["", ...SCHEDULES], rows)];
}

function convergence({ convergence: cases }: Parts): string[] {
  if (!cases || cases.length === 0) return [];
  const rows = cases.flatMap(({ name, curves }) =>
    [...new Set(curves.map(({ method }) => method))].map((method) => [
      `${name}, ${method}`,
      ...PRECONDITIONERS.map((preconditioner) => {
        const one = curves.find((each) => each.method === method && each.preconditioner === preconditioner);
        return one === undefined ? "" : `${one.iterations}${one.reason === "tolerance" ? "" : ` (${one.reason})`}`;
      }),
    ]),
  );
  return ["Iterations of the iterative solvers, the same on every machine", ...columns(["preconditioner:", ...PRECONDITIONERS], rows)];
}

function solves({ solve: tables }: Parts): string[] {
  const rows = [...(tables?.cpu?.rows ?? []), ...(tables?.gpu?.rows ?? [])];
  if (rows.length === 0) return [];
  const orders = [...new Set(rows.map(({ n }) => n))].sort((a, b) => a - b);
  const lines = [...new Set(rows.map(({ engine, method }) => `${engine}, ${method}`))].map((name) => [
    name,
    ...orders.map((n) => {
      const row = rows.find((one) => `${one.engine}, ${one.method}` === name && one.n === n);
      return row?.gflops === undefined ? "" : `${digits(row.gflops)} (${row.iterations})`;
    }),
  ]);
  return ["solve(): Gflop/s (refinement steps)", ...columns(["n =", ...orders.map(String)], lines)];
}

function digits(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function columns(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, k) => Math.max(...all.map((row) => (row[k] ?? "").length)));
  const pad = (cell: string, k: number): string => (k === 0 ? cell.padEnd(widths[k] ?? 0) : cell.padStart(widths[k] ?? 0));
  return all.map((row) => `  ${row.map(pad).join("  ")}`.trimEnd());
}
