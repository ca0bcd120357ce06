// The MPI library of this machine, through koffi: which file to load, what its handles are, and the functions that communicator.ts calls.
// MPICH and Open MPI are tested; the table for MPI 5's application binary interface is not.
import { EngineError } from "../../arrays/errors.ts";
import { importByName } from "../../engines/importByName.js";

/** A handle or a constant of the library: an integer in MPICH, an address elsewhere. */
export type Handle = number | bigint;

/** A function of the library. It returns a code, 0 for success. */
type Command = (...args: unknown[]) => number;

/** What differs between libraries. */
interface Interface {
  readonly name: string;
  /** The files to try, by platform; Linux is the default. */
  readonly files: readonly string[];
  /** The Debian packages that contain it. */
  readonly packages: string;
  /** The C type of handles, and the bytes of a request. */
  readonly handle: "int" | "void *";
  readonly requestBytes: 4 | 8;
  /** Constants, or the symbols whose addresses they are. */
  readonly constants: Readonly<Record<Constant, number | string>>;
  /** MPI_THREAD_FUNNELED. */
  readonly funneled: number;
  readonly statusesIgnore: number;
  readonly inPlace: number;
}

type Constant = "world" | "int64" | "byte" | "sum" | "max";

const MPICH: Interface = {
  name: "MPICH",
  files: ["libmpich.so.12", "libmpi.so.12"],
  packages: "mpich",
  handle: "int",
  requestBytes: 4,
  constants: { world: 0x44000000, int64: 0x4c00083a, byte: 0x4c00010d, sum: 0x58000003, max: 0x58000001 },
  funneled: 1,
  statusesIgnore: 1,
  inPlace: -1,
};

const OPEN_MPI: Interface = {
  name: "Open MPI",
  files: ["libmpi.so.40"],
  packages: "openmpi-bin",
  handle: "void *",
  requestBytes: 8,
  constants: {
    world: "ompi_mpi_comm_world",
    int64: "ompi_mpi_int64_t",
    byte: "ompi_mpi_byte",
    sum: "ompi_mpi_op_sum",
    max: "ompi_mpi_op_max",
  },
  funneled: 1,
  statusesIgnore: 0,
  inPlace: 1,
};

// Untested: no package of Debian 12 has it. The numbers are those of the header in chapter 20 of the MPI 5.0 standard.
const MPI_5: Interface = {
  name: "MPI 5 ABI",
  files: ["libmpi_abi.so.0", "libmpi_abi.so"],
  packages: "mpich",
  handle: "void *",
  requestBytes: 8,
  constants: { world: 0x101, int64: 0x258, byte: 0x247, sum: 0x21, max: 0x23 },
  funneled: 1024,
  statusesIgnore: 0,
  inPlace: 1,
};

const INTERFACES = { mpich: MPICH, openmpi: OPEN_MPI, abi: MPI_5 } as const;

const handle = "HANDLE";
const FUNCTIONS: Record<string, string> = {
  MPI_Init_thread: "void *, void *, int, void *",
  MPI_Initialized: "void *",
  MPI_Finalize: "",
  MPI_Abort: `${handle}, int`,
  MPI_Comm_rank: `${handle}, void *`,
  MPI_Comm_size: `${handle}, void *`,
  MPI_Get_library_version: "void *, void *",
  MPI_Iallreduce: `void *, void *, int, ${handle}, ${handle}, ${handle}, void *`,
  MPI_Iallgather: `void *, int, ${handle}, void *, int, ${handle}, ${handle}, void *`,
  MPI_Ibcast: `void *, int, ${handle}, int, ${handle}, void *`,
  MPI_Isend: `void *, int, ${handle}, int, int, ${handle}, void *`,
  MPI_Irecv: `void *, int, ${handle}, int, int, ${handle}, void *`,
  MPI_Testall: "int, void *, void *, void *",
};

/** The functions, constants and sizes of a loaded library. */
export interface Library extends Readonly<Record<Constant, Handle>> {
  readonly call: Readonly<Record<keyof typeof FUNCTIONS, Command>>;
  readonly requestBytes: 4 | 8;
  readonly funneled: number;
  readonly statusesIgnore: Handle;
  readonly inPlace: Handle;
  /** The name of the interface, as in "MPICH". */
  readonly interface: string;
}

interface Loaded {
  func(signature: string): unknown;
  symbol(name: string, type: string): bigint;
}
interface Koffi {
  load(file: string, options?: { global?: boolean }): Loaded;
}

const INSTALL = "install one, on Debian with apt-get install mpich (or openmpi-bin)";

/** What the program that started this process says: its library, the number of ranks and the one that this process is. */
export interface Launcher {
  readonly kind?: keyof typeof INTERFACES;
  readonly rank: number;
  readonly size: number;
}

/** The launcher, by what it has put into the environment. */
export function launcher(env: Readonly<Record<string, string | undefined>>): Launcher {
  const from = (kind: keyof typeof INTERFACES, rank: string, size: string): Launcher => ({
    kind,
    rank: Number(env[rank] ?? 0) || 0,
    size: Number(env[size] ?? 1) || 1,
  });
  if (env.OMPI_COMM_WORLD_SIZE !== undefined) return from("openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (env.PMI_SIZE !== undefined || env.PMI_FD !== undefined) return from("mpich", "PMI_RANK", "PMI_SIZE");
  if (env.PMIX_RANK !== undefined) return from("openmpi", "PMIX_RANK", "SLURM_NTASKS");
  return { rank: 0, size: 1 };
}

/**
 * Load the library. `wanted` is "mpich", "openmpi", "abi" or a file; without it, the library whose launcher started this process, else the
 * first that is installed.
 */
export async function loadLibrary(wanted: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<Library> {
  const koffi = await openKoffi();
  const started = launcher(env).kind;
  const kinds = isKind(wanted) ? [wanted] : started ? [started] : (Object.keys(INTERFACES) as (keyof typeof INTERFACES)[]);
  const files = wanted !== undefined && !isKind(wanted) ? [wanted] : kinds.flatMap((kind) => INTERFACES[kind].files);
  let cause: unknown;
  for (const file of files) {
    try {
      // Open MPI's plugins find its symbols only if these are global.
      return bind(koffi.load(file, { global: true }), file);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      cause = error;
    }
  }
  const [only] = kinds;
  const what =
    wanted !== undefined && !isKind(wanted)
      ? `${wanted} cannot be loaded`
      : kinds.length === 1
        ? `${INTERFACES[only as keyof typeof INTERFACES].name} is not installed: on Debian apt-get install ${INTERFACES[only as keyof typeof INTERFACES].packages}`
        : `no MPI library on this machine: ${INSTALL}`;
  throw new EngineError(`openRanks: ${what}`, { cause });
}

const isKind = (word: string | undefined): word is keyof typeof INTERFACES => word !== undefined && Object.hasOwn(INTERFACES, word);

async function openKoffi(): Promise<Koffi> {
  const process = (globalThis as { process?: { versions?: { node?: string } } }).process;
  if (process?.versions?.node === undefined) throw new EngineError("openRanks: it needs Node, and this is another runtime");
  try {
    return ((await importByName("koffi")) as { default: Koffi }).default;
  } catch (cause) {
    throw new EngineError("openRanks: the package koffi is not installed: npm install koffi", { cause });
  }
}

// The interface of a loaded library, by what it contains: Intel MPI, MVAPICH and Cray MPI have that of MPICH.
function interfaceOf(library: Loaded, file: string): Interface {
  if (/libmpi_abi/.test(file)) return MPI_5;
  try {
    library.symbol("ompi_mpi_comm_world", "void");
    return OPEN_MPI;
  } catch {
    return MPICH;
  }
}

function bind(library: Loaded, file: string): Library {
  const { name, constants, requestBytes, funneled, statusesIgnore, inPlace, handle: type } = interfaceOf(library, file);
  const call: Record<string, Command> = {};
  for (const [name, args] of Object.entries(FUNCTIONS)) {
    try {
      call[name] = library.func(`int ${name}(${args.replaceAll(handle, type)})`) as Command;
    } catch (cause) {
      throw new EngineError(`openRanks: ${file} has no ${name}, expected a library of MPI 3 or later`, { cause });
    }
  }
  const value = (constant: Constant): Handle => {
    const known = constants[constant];
    if (typeof known === "string") return library.symbol(known, "void");
    return type === "int" ? known : BigInt(known);
  };
  return {
    call,
    requestBytes,
    funneled,
    statusesIgnore: BigInt.asUintN(64, BigInt(statusesIgnore)),
    inPlace: BigInt.asUintN(64, BigInt(inPlace)),
    interface: name,
    world: value("world"),
    int64: value("int64"),
    byte: value("byte"),
    sum: value("sum"),
    max: value("max"),
  };
}
