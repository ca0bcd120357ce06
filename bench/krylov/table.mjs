// The table of a race, for krylov.mjs: each rival beside the floor and the peer of the limits.
import { timeOf } from "../harness/race.mjs";
import { figure, printTable, ratio } from "../harness/table.mjs";

const CACHES = 2 ** 26; // bytes: more than the caches hold

/** `what` heads the column of times; `bytes` is the floor of one call, compared with where the data fit no cache. */
export function printRace(outcomes, { bytes, floor, baseline, what, wrong, more = {} }) {
  const peer = timeOf(outcomes, baseline);
  const rows = outcomes
    .filter(({ failed }) => !failed)
    .map((outcome) => {
      const { name, median, min } = outcome;
      const ofFloor = bytes > CACHES ? figure(median / (bytes / floor.readGBs)) : undefined;
      return [
        name,
        figure(median / 1e6),
        figure(min / 1e6),
        figure(ratio(median, peer)),
        ofFloor,
        ...Object.values(more).map((cell) => cell(outcome)),
      ];
    });
  printTable(["", what, "minimum", `/ ${baseline.split(" ")[0]}`, "/ floor", ...Object.keys(more)], rows);
  for (const { name, failed } of outcomes) if (failed) console.log(`  ${name} is not measured: ${failed}`);
  if (wrong) console.log(`  DIFFERENT: ${wrong}`);
}
