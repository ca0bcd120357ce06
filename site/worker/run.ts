// Runs an example of the documentation: the text of a module that imports names of the package only.
import * as halfulp from "../../src/index.ts";
import { logged } from "./inspect.ts";

const IMPORT = /^import \{([^}]*)\} from "halfulp";$/gm;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...values: unknown[]) => Promise<void>;

/** Reports every line that the example prints. */
export async function run(code: string, report: (line: string) => void): Promise<void> {
  const body = code.replace(IMPORT, (_, names: string) => `const {${names}} = halfulp;`);
  const log = (...values: unknown[]): void => report(logged(values));
  await new AsyncFunction("halfulp", "console", body)(halfulp, { log });
}
