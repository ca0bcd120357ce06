// The sources as JavaScript, in a folder of their own: dist/ may be missing or old.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export function transpileTo(folder: string): void {
  const sources = fileURLToPath(new URL("../src", import.meta.url));
  for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".js")) {
      mkdirSync(dirname(join(folder, "halfulp", file)), { recursive: true });
      copyFileSync(join(sources, file), join(folder, "halfulp", file));
    }
    if (!file.endsWith(".ts") || (file.includes("assembly") && !file.endsWith("layout.ts"))) continue;
    const to = join(folder, "halfulp", file.replace(/ts$/, "js"));
    mkdirSync(dirname(to), { recursive: true });
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, rewriteRelativeImportExtensions: true };
    writeFileSync(to, ts.transpileModule(readFileSync(join(sources, file), "utf8"), { compilerOptions: options }).outputText);
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
}
