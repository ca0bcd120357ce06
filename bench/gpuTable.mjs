// Tables of outcomes, with columns of { heading: (outcome) => cell }.
import { figure, printTable } from "./table.mjs";

export const milliseconds = { ms: ({ median }) => figure(median / 1e6), minimum: ({ min }) => figure(min / 1e6) };

/** Columns for what moves so many bytes: GB/s, and their share of those of a copy where that was measured. */
export function bandwidth(bytes, floor) {
  const share = floor && { "of a copy": ({ median }) => `${figure((100 * bytes) / median / floor.copyGBs)} %` };
  return { "GB/s": ({ median }) => figure(bytes / median), ...share };
}

/** Those that ran, and why the others did not; `wrong` says what is wrong with the results, if something is. */
export function printOutcomes(title, outcomes, columns, wrong) {
  const cells = Object.values(columns);
  const rows = outcomes.filter(({ failed }) => !failed).map((outcome) => [outcome.name, ...cells.map((cell) => cell(outcome))]);
  console.log(`\n${title}`);
  printTable(["", ...Object.keys(columns)], rows);
  for (const { name, failed } of outcomes) if (failed) console.log(`  ${name} DOES NOT RUN: ${failed}`);
  if (wrong) console.log(`  DIFFERENT: ${wrong}`);
}
