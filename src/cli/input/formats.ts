// File formats and the extensions that stand for them.
import { extname } from "node:path";
import { UsageError } from "../command.ts";

/** How numbers are stored in a file. */
export type FileFormat = "npy" | "raw" | "raw32" | "csv" | "mtx";

const EXTENSIONS: ReadonlyMap<string, FileFormat> = new Map([
  [".npy", "npy"],
  [".f64", "raw"],
  [".bin", "raw"],
  [".raw", "raw"],
  [".f32", "raw32"],
  [".csv", "csv"],
  [".tsv", "csv"],
  [".mtx", "mtx"],
]);

/** The format of a file by its extension, which must be one of `among`. */
export function formatByName<F extends FileFormat>(path: string, among: readonly F[]): F {
  const format = EXTENSIONS.get(extname(path).toLowerCase()) as F | undefined;
  if (format !== undefined && among.includes(format)) return format;
  const names = [...EXTENSIONS].filter(([, each]) => among.includes(each as F)).map(([extension]) => extension);
  throw new UsageError(`"${path}" has an unknown format, expected a name ending in ${names.join(", ")}`);
}

/** Whether a file is a table of text: by the format that is given, or by its name. */
export function isTable(path: string, format: string | undefined): boolean {
  return format === undefined ? /\.(csv|tsv)$/i.test(path) : format === "csv";
}
