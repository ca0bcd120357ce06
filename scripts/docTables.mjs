// The generated tables of a page: each stands between `<!-- name -->` and `<!-- end -->`.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Write the tables of a page: functions that return Markdown, by name. With --check on the command line, write nothing, and exit with 1 if
 * the page is out of date.
 */
export function fillTables(name, tables) {
  const file = join(root, name);
  const page = readFileSync(file, "utf8");
  const filled = page.replace(/<!-- (\w+) -->\n[\s\S]*?<!-- end -->/g, (_, each) => `<!-- ${each} -->\n${tables[each]()}\n<!-- end -->`);
  if (!process.argv.includes("--check")) writeFileSync(file, filled);
  else if (filled !== page) {
    console.error(`${name} is out of date: npm run docs`);
    process.exitCode = 1;
  }
}
