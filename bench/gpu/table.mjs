// Tables of outcomes for gpu.mjs, with columns { heading: (outcome) => cell }.
import { figure, printTable } from "../harness/table.mjs";

export const milliseconds = { ms: ({ median }) => figure(median / 1e6), minimum: ({ min }) => figure(min / 1e6) };

/** Columns for operations that move this number of bytes: GB/s, and the share of a copy's where that was measured. */
export function bandwidth(bytes, floor) {
  const share = floor && { "of a copy": ({ median }) => `${figure((100 * bytes) / median / floor.copyGBs)} %` };
  return { "GB/s": ({ median }) => figure(bytes / median), ...share };
}

/** Those that ran, and why the others failed; `wrong` describes an error in the results, if there is one. */
export function printOutcomes(title, outcomes, columns, wrong) {
  const cells = Object.values(columns);
  const rows = outcomes.filter(({ failed }) => !failed).map((outcome) => [outcome.name, ...cells.map((cell) => cell(outcome))]);
  console.log(`\n${title}`);
  printTable(["", ...Object.keys(columns)], rows);
  for (const { name, failed } of outcomes) if (failed) console.log(`  ${name} FAILED: ${failed}`);
  if (wrong) console.log(`  DIFFERENT: ${wrong}`);
}
