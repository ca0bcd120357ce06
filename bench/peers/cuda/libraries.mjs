// Finds and loads NVIDIA's libraries, and binds their functions.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const FILES = {
  cudart: ["libcudart.so.13", "libcudart.so.12"],
  nvJitLink: ["libnvJitLink.so.13", "libnvJitLink.so.12"],
  cublasLt: ["libcublasLt.so.13", "libcublasLt.so.12"],
  cublas: ["libcublas.so.13", "libcublas.so.12"],
  cusparse: ["libcusparse.so.12"],
  cusolver: ["libcusolver.so.12", "libcusolver.so.11"],
};

// Where the linker does not know their folder, a library finds those it needs only if they are already loaded.
const NEEDED = { cublas: ["cublasLt"], cusparse: ["nvJitLink"], cusolver: ["cublas", "cusparse"] };

// Folders of the toolkit, then of Python's packages, which contain the same files.
const FOLDERS = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib"];

const loaded = new Map();

/** A library of NVIDIA's by its short name: from $CUDA_PATH/lib64, from where the linker finds it, or from a usual folder. */
export function loadCuda(koffi, name) {
  if (!loaded.has(name)) loaded.set(name, search(koffi, name));
  return loaded.get(name);
}

function search(koffi, name) {
  for (const needed of NEEDED[name] ?? []) {
    try {
      loadCuda(koffi, needed);
    } catch {} // the linker may still find it
  }
  const { CUDA_PATH } = process.env;
  const folders = [
    ...(CUDA_PATH ? [join(CUDA_PATH, "lib64")] : []),
    "",
    ...FOLDERS.flatMap((pattern) => matching("/", pattern.split("/").slice(1))),
  ];
  let reason = "";
  for (const folder of folders)
    for (const file of FILES[name])
      try {
        return { path: join(folder, file), library: koffi.load(join(folder, file)) };
      } catch (error) {
        if (!error.message.includes("No such file")) reason = `: ${error.message}`;
      }
  throw new Error(`cannot load ${FILES[name].join(" or ")}${reason}`);
}

// The folders below one that match a pattern, given name by name; * stands for any characters.
function matching(folder, [word, ...rest]) {
  if (word === undefined) return [folder];
  const expression = new RegExp(`^${word.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  let names = [];
  try {
    names = readdirSync(folder).filter((name) => expression.test(name));
  } catch {} // no such folder, or not readable
  return names.flatMap((name) => matching(join(folder, name), rest));
}

/** Functions of a library, { name: "its arguments in C" }. Each throws unless it returns 0. */
export function bindAll(library, signatures) {
  const bound = Object.entries(signatures).map(([name, args]) => {
    const native = library.func(`int32 ${name}(${args})`);
    const checked = (...values) => {
      const status = native(...values);
      if (status !== 0) throw new Error(`${name} returns ${status}`);
    };
    return [name, checked];
  });
  return Object.fromEntries(bound);
}

/** The value that a function writes through its last argument: a handle, or a number of this array type. */
export function output(call, type = BigUint64Array) {
  const result = new type(1);
  call(result);
  return result[0];
}
