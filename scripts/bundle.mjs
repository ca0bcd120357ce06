// The plotting library and its document, with everything they need, into the one file of dist/ that imports them: who installs
// this package installs neither. Beside it NOTICE.txt, with the licence of every package that is inside.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const FILE = "dist/report/draw/plotting.js";
const NOTICE = "dist/report/draw/NOTICE.txt";

// Nobody may use what is under another licence before a person has looked at it.
const ALLOWED = ["ISC", "MIT", "BSD-2-Clause", "BSD-3-Clause"];

const bundle = await rolldown({ input: FILE, platform: "node", logLevel: "silent" });
const { output } = await bundle.generate({ format: "esm", minify: true });
await bundle.close();
if (output.length !== 1) throw new Error(`The plotting library makes ${output.length} files, expected one`);

const folders = new Set(output[0].moduleIds.map(packageOf).filter((folder) => folder !== undefined));
if (folders.size > 0) write(); // else it has been done

function write() {
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!ALLOWED.includes(license)) throw new Error(`${name} ${version} has the licence ${license}, expected one of ${ALLOWED.join(", ")}`);
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license} (the package has no text of it)`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  writeFileSync(FILE, output[0].code);
  const head = "plotting.js holds parts of these packages.\n";
  writeFileSync(NOTICE, [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));
}

// The folder with the package.json of the package that this module is from.
function packageOf(id) {
  if (!id.includes("/node_modules/")) return undefined;
  let folder = dirname(id);
  while (!(existsSync(join(folder, "package.json")) && "version" in JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))))
    folder = dirname(folder);
  return folder;
}
