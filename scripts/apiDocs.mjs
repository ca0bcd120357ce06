// Generates docs/api.md, the API reference: every name that the package exports, by topic, with its signature, doc comment and example, from
// the declarations that the compiler emits. `npm run docs` runs it. With --check it writes nothing, and exits with 1 if the file is out of
// date. It also exits with 1 if a name has no comment or no topic, or a function no example.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const FILE = join(root, "docs/api.md");
const ENTRIES = {
  halfulp: "index",
  "halfulp/opencl": "opencl",
  "halfulp/webgpu": "webgpu",
  "halfulp/mpi": "mpi",
  "halfulp/study": "study",
};
const HEAD = `# API reference

Generated from the sources by \`npm run docs\`. What each routine returns, to the bit: [spec.md](spec.md).
`;

// The names of the main entry point by topic; types that are not listed come last.
const TOPICS = {
  Vectors: "exsum exasum exdot exnrm2 exaxpy exscal exinvscal RoundOptions Real Rounding Format",
  Statistics: "exmean exvariance excovariance Moments",
  "Running sums": "Accumulator",
  "Engine memory": "allocate free",
  Matrices: "matrix fromRows toRows Matrix ViewOptions Rows",
  "Dense routines":
    "exgemv exgemm extrsv extrsm exlu exluBatch MatrixVectorOptions MatrixProductOptions TriangularOptions LU RefineOptions BatchLU",
  "Sparse matrices": "csr csc toCsr toCsc exspmv sptrsv ilu0 Sparse SparseOptions Schedule TriangularPlan SparseSolves",
  Systems: "solve factor SolveOptions SolveMethod SolveRounding Solution Factored AbortSignalLike",
  "Iterative solvers": "cg bicgstab gmres IterativeOptions Preconditioner IterativeSolution IterativeReason Iterative",
  Engines: "open engines OpenOptions EngineKind Engine Resident EngineIterativeOptions EnginePreconditioner AsyncMethods",
  Files: "readNpy writeNpy readMatrixMarket writeMatrixMarket MatrixMarketOptions",
  "Test problems and measures":
    "illConditionedDot illConditionedMatrixVector illConditionedTriangular representableTriangular illConditionedMatrix laplacian " +
    "elasticity convectionDiffusion powerLaw skeelCondition residualNorm factorizationError",
  Errors: "HalfulpError ShapeError ValueError SingularError PatternError FormatError EngineError",
};
const OTHERS = "Other types";

const program = declarations();
const checker = program.getTypeChecker();
const uncommented = [];
const seen = new Map(); // a name that two modules export is described only once
const withoutExample = [];
const withoutTopic = [];
const text = [HEAD, contents(), ...Object.entries(ENTRIES).map(([name, file]) => entry(name, join(root, "dist", `${file}.d.ts`)))].join(
  "\n",
);

for (const name of uncommented) console.error(`docs/api.md: ${name} has no comment`);
for (const name of withoutExample) console.error(`docs/api.md: ${name} has no @example in its comment`);
for (const name of withoutTopic) console.error(`scripts/apiDocs.mjs: ${name} is in no topic`);
if (uncommented.length + withoutExample.length + withoutTopic.length > 0) process.exitCode = 1;
if (!process.argv.includes("--check")) writeFileSync(FILE, text);
else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== text) {
  console.error("docs/api.md is out of date: npm run docs");
  process.exitCode = 1;
}

// The declarations that a build would write to dist/, in memory.
function declarations() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const emitted = new Map();
  ts.createProgram(fileNames, options).emit(undefined, (name, contents) => emitted.set(name, contents), undefined, true);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => emitted.get(name) ?? readFile(name);
  host.fileExists = (name) => emitted.has(name) || fileExists(name);
  const getSourceFile = host.getSourceFile;
  host.getSourceFile = (name, target, ...rest) =>
    emitted.has(name) ? ts.createSourceFile(name, emitted.get(name), target, true) : getSourceFile(name, target, ...rest);
  return ts.createProgram([...emitted.keys()], { ...options, noEmit: true }, host);
}

function contents() {
  const link = (title) => `[${title}](#${title.toLowerCase().replaceAll(" ", "-").replaceAll("/", "")})`;
  const [main, ...others] = Object.keys(ENTRIES);
  return `\`${main}\`: ${[...Object.keys(TOPICS), OTHERS].map(link).join(", ")}. Other entry points: ${others.map(link).join(", ")}.\n`;
}

// The main entry point by topics. In others, routines first, then other values, then types, each in source order.
function entry(module, file) {
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).map((exported) => ({
    name: exported.name,
    symbol: exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported,
  }));
  const isValue = ({ symbol }) => (symbol.flags & ts.SymbolFlags.Value) !== 0;
  if (module !== "halfulp") {
    const isOwn = ({ symbol }) => basename(symbol.declarations[0].getSourceFile().fileName) === basename(file);
    const values = symbols.filter(isValue).sort((a, b) => isOwn(b) - isOwn(a));
    const types = symbols.filter((one) => !isValue(one));
    return [`## ${module}\n`, ...[...values, ...types].map((one) => described(module, one))].join("\n");
  }
  const topics = Object.entries(TOPICS).map(([title, names]) => {
    const found = names.split(" ").flatMap((name) => symbols.filter((one) => one.name === name));
    return [title, found];
  });
  const listed = new Set(topics.flatMap(([, found]) => found));
  const rest = symbols.filter((one) => !listed.has(one));
  withoutTopic.push(...rest.filter(isValue).map(({ name }) => name));
  return [...topics, [OTHERS, rest]]
    .flatMap(([title, found]) => [`## ${title}\n`, ...found.map((one) => described(module, one))])
    .join("\n");
}

function described(module, { name, symbol }) {
  const first = seen.get(symbol);
  if (first !== undefined) return `### \`${name}\`\n\nThe same as in \`${first}\`.\n`;
  seen.set(symbol, module);
  // Join lines that were broken only to fit the source.
  const comment = ts
    .displayPartsToString(symbol.getDocumentationComment(checker))
    .replace(/([^\n])\n(?![\n-])/g, "$1 ")
    .trim();
  if (comment === "") uncommented.push(`${name} of ${module}`);
  const example = exampleOf(symbol);
  if (example === undefined && isForUsers(module, symbol)) withoutExample.push(`${name} of ${module}`);
  const shown = [
    `\`\`\`ts\n${signatures(name, symbol).join("\n")}\n\`\`\``,
    ...(comment === "" ? [] : [comment]),
    ...(example === undefined ? [] : [`\`\`\`js\n${example}\n\`\`\``]),
  ];
  return `### \`${name}\`\n\n${shown.join("\n\n")}\n`;
}

function exampleOf(symbol) {
  const tags = symbol.getJsDocTags(checker).filter(({ name }) => name === "example");
  return tags.length === 0 ? undefined : ts.displayPartsToString(tags[0].text).trim();
}

// Functions and classes. The names of halfulp/study are for benchmarks.
function isForUsers(module, symbol) {
  const isFunction = (symbol.flags & ts.SymbolFlags.Value) !== 0;
  return module !== "halfulp/study" && isFunction;
}

function signatures(name, symbol) {
  const declaration = symbol.valueDeclaration ?? symbol.declarations[0];
  if (ts.isClassDeclaration(declaration)) return [withoutPrivate(declaration)];
  if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)) return [bare(declaration.getText())];
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
  const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
  const calls = type.getCallSignatures();
  if (calls.length === 0) return [`${name}: ${checker.typeToString(type, declaration, flags)}`];
  return calls.map((call) => `${name}${checker.signatureToString(call, declaration, flags)}`.replaceAll("Array<ArrayBufferLike>", "Array"));
}

function withoutPrivate(declaration) {
  const members = declaration.members.filter((member) => !(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private));
  const head = declaration.getText().slice(0, declaration.members.pos - declaration.getStart());
  return bare(`${head}${members.map((member) => member.getFullText()).join("")}\n}`);
}

function bare(declaration) {
  return declaration.replace(/^export (declare )?/, "").replace(/^ {4,}/gm, (indent) => " ".repeat(indent.length / 2));
}
