// File formats and the extensions that stand for them.
import { extname } from "node:path";
import { UsageError } from "../command.ts";

/** How numbers are stored in a file. */
export type FileFormat = "npy" | "npz" | "raw" | "raw32" | "csv" | "txt" | "mtx" | "parquet";

const EXTENSIONS: ReadonlyMap<string, FileFormat> = new Map([
  [".npy", "npy"],
  [".npz", "npz"],
  [".f64", "raw"],
  [".bin", "raw"],
  [".raw", "raw"],
  [".f32", "raw32"],
  [".mtx", "mtx"],
  [".csv", "csv"],
  [".tsv", "csv"],
  [".txt", "txt"],
  [".parquet", "parquet"],
]);

/** A path, and the name of a member if it is of the form FILE.npz:NAME. */
export function splitPath(path: string): { readonly file: string; readonly member: string | undefined } {
  const [, file = path, member] = /^(.*\.npz):(.+)$/is.exec(path) ?? [];
  return { file, member };
}

/** The format that the extension of a file stands for. */
export const knownFormat = (path: string): FileFormat | undefined => EXTENSIONS.get(extname(splitPath(path).file).toLowerCase());

/** The format of a file by its extension, which must be one of `among`. */
export function formatByName<F extends FileFormat>(path: string, among: readonly F[]): F {
  const format = knownFormat(path) as F | undefined;
  if (format !== undefined && among.includes(format)) return format;
  const names = [...EXTENSIONS].filter(([, each]) => among.includes(each as F)).map(([extension]) => extension);
  throw new UsageError(`"${path}" has an unknown format, expected a name ending in ${names.join(", ")}`);
}
