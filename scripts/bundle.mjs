// Bundles the plotting library and its document into the one file of dist/ that imports them, so that users of this package install
// neither, and writes NOTICE.txt with the licence of every bundled package. scripts/build.mjs runs it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const FILE = "dist/report/draw/plotting.js";
const NOTICE = "dist/report/draw/NOTICE.txt";

// A package with any other licence must be reviewed by a person first.
const ALLOWED = ["ISC", "MIT", "BSD-2-Clause", "BSD-3-Clause"];

const bundle = await rolldown({ input: FILE, platform: "node", logLevel: "silent" });
const { output } = await bundle.generate({ format: "esm", minify: true });
await bundle.close();
if (output.length !== 1) throw new Error(`The bundle of the plotting library has ${output.length} files, expected one`);

const folders = new Set(output[0].moduleIds.map(packageOf).filter((folder) => folder !== undefined));
if (folders.size > 0) write(); // else the file is bundled already

function write() {
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!ALLOWED.includes(license)) throw new Error(`${name} ${version} has the licence ${license}, expected one of ${ALLOWED.join(", ")}`);
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license} (the package has no text of it)`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  writeFileSync(FILE, output[0].code);
  const head = "plotting.js contains parts of these packages.\n";
  writeFileSync(NOTICE, [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));
}

// The folder of the package that contains this module.
function packageOf(id) {
  if (!id.includes("/node_modules/")) return undefined;
  let folder = dirname(id);
  while (!(existsSync(join(folder, "package.json")) && "version" in JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))))
    folder = dirname(folder);
  return folder;
}
