// The corpus in the shell of a JavaScript engine, which has nothing but the language and print(): bundled by bundle() in shells.mjs.
import * as matrices from "../../dist/api/matrixRoutines.js";
import * as vectors from "../../dist/api/vectorRoutines.js";
import { embedded } from "../../dist/engines/embedded.js";
import { hashes } from "../../dist/everywhere/corpus.js";

globalThis.performance ??= { now: () => Date.now() }; // of the language it is not
const begin = performance.now();
hashes({ ...vectors, ...matrices }, { corpus: globalThis.CORPUS }).then(
  (found) => print(JSON.stringify({ device: embedded().name, seconds: (performance.now() - begin) / 1000, hashes: found })),
  (error) => print(JSON.stringify({ error: `${error}\n${error.stack}` })),
);
