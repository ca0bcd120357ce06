// The ranks of one MPI job and the messages between them. Everything above this file exchanges data through a Communicator and knows
// nothing of MPI. All calls are nonblocking and are made on the calling thread. Both libraries poll in blocking calls, which on a machine
// with more ranks than cores takes the core away from the rank that is waited for; a Pending spins briefly, then sleeps.
import { EngineError } from "../../arrays/errors.ts";
import { type Handle, type Library, launcher, loadLibrary } from "./library.ts";
import { processors } from "./processors.ts";

/** Bytes sent to, or received from, another rank. */
export interface Message {
  readonly rank: number;
  readonly data: ArrayBufferView;
}

/** A communication that was started. The buffers belong to it until it is done. */
export interface Pending {
  wait(): Promise<void>;
  /** Whether it is done. The libraries move messages in such calls only: long computations make some in between. */
  test(): boolean;
}

interface Process {
  readonly env: Record<string, string | undefined>;
  readonly stderr: { write(text: string): void };
  on(event: string, listener: (argument: never) => void): void;
  off(event: string, listener: (argument: never) => void): void;
}
const { process } = globalThis as unknown as { process: Process };

// How long a wait spins, in ms. If every rank has a core, most answers come within it. It must exceed what ranks usually wait for each
// other: a sum passes through several ranks, and one that sleeps delays all others, which then sleep too. (16 ranks on 16 cores: with spins
// of 1 ms, exlu of order 4096 took 60 s, 15 ms per column, where one rank takes 9.5.)
const SPIN = 10;
// Then it blocks the thread for short naps, of 0.1 ms each, which leave the core to others. With more ranks than cores a wait is nearly all
// naps, for as long: a sum passes through several ranks, and each hop would take a sleep (8 ranks on 2 cores, MPICH: 1.4 ms per sum, and 5
// with 12 naps). So no event loop is delayed by more than 11 ms.
const NAP = 0.05;
const NAPS = 12;
// Tests after a nap or a sleep: a sum takes several steps, and each test does only those that are ready (exlu of order 256 there: 0.35 s, and
// 0.98 with one test).
const TESTS = 5;
const CROWDED = { spin: 0.002, naps: 100 };
// Then it sleeps in the event loop, for at most MAX_SLEEP ms at a time: a rank that waits for a second uses 30 to 44 ms of processor time,
// 10 of them in the spin.
const MIN_SLEEP = 1;
const MAX_SLEEP = 10;
const SLEEP_GROWTH = 1.03;

// More processors of one machine are not counted.
const MAX_PROCESSORS = 1024;

// A rank that ends without close() waits this long for the others to end too.
const END_SECONDS = 5;

// MPI counts are 32-bit integers: longer messages go in pieces.
const MAX_PIECE = 2 ** 30;
const TAG = 1;
// Up to this number of ranks, the root of a broadcast sends its data to each (MPICH, two ranks, four broadcasts of 131 kB: 31 µs, and 85 µs
// with MPI_Ibcast).
const FEW = 4;
// On more ranks, parts of few bytes are gathered as the sum of arrays that are zero elsewhere. A sum takes 2 log2(p) messages, while Open MPI
// gathers with p - 1.
const SUMMED = 2 ** 16; // bytes of all parts

// UCX, under Debian's MPICH, patches memory functions of the C library while other threads of Node run them, and takes over signals: both
// have crashed the process. It needs neither here.
const SETTINGS = { UCX_MEM_EVENTS: "n", UCX_ERROR_SIGNALS: "" };

let isOpen = false;
let wasFinalized = false;

/** The communicator of all ranks. One process can open one, once: MPI cannot be started again after it was shut down. */
export class Communicator {
  readonly rank: number;
  readonly size: number;
  /** The library with its version, as in "MPICH 4.0.2". */
  readonly library: string;
  private readonly pending = new Set<Requests>();
  private patience: Patience = CROWDED;
  private closed = false;
  /** The words that all ranks sum if they end without close(), and whether their sums show that all did. */
  ending: { words(): BigInt64Array; agrees(words: BigInt64Array): boolean } | undefined;
  private uncaught: unknown;
  private readonly onExit = (code: number): void => this.leave(code);
  private readonly onUncaught = (error: unknown): void => {
    this.uncaught = error;
  };

  /** Start MPI. `wanted` is explained at loadLibrary(). */
  static async open(wanted: string | undefined): Promise<Communicator> {
    if (isOpen) throw new EngineError("openRanks: the ranks of this process are open already, expected one call");
    if (wasFinalized) throw new EngineError("openRanks: the ranks of this process were closed, and MPI cannot be started twice");
    for (const [name, value] of Object.entries(SETTINGS)) process.env[name] ??= value;
    const ranks = new Communicator(await loadLibrary(wanted, process.env));
    await ranks.findPatience();
    return ranks;
  }

  private constructor(private readonly mpi: Library) {
    const { call } = mpi;
    const out = new Int32Array(1);
    const read = (name: string, ...args: unknown[]): number => {
      this.check(name, (call[name] as (...args: unknown[]) => number)(...args, out));
      return out[0] as number;
    };
    if (read("MPI_Initialized") === 0) read("MPI_Init_thread", null, null, mpi.funneled);
    isOpen = true;
    this.rank = read("MPI_Comm_rank", mpi.world);
    this.size = read("MPI_Comm_size", mpi.world);
    this.library = this.version();
    const expected = launcher(process.env).size;
    if (this.size === 1 && expected > 1)
      throw new EngineError(
        `openRanks: ${expected} processes were started, but ${this.library} sees only this one: mpirun belongs to another library (HALFULP_MPI chooses mpich or openmpi)`,
      );
    process.on("exit", this.onExit);
    process.on("uncaughtExceptionMonitor", this.onUncaught);
  }

  // A rank alone cannot tell whether ranks share processors: Open MPI binds two ranks on two cores to one each. (Taken for two ranks on one
  // core they napped: 135 µs per short exdot instead of 10.) On several machines this counts the processors of all, by number.
  private async findPatience(): Promise<void> {
    const local = Number(process.env.OMPI_COMM_WORLD_LOCAL_SIZE ?? process.env.MPI_LOCALNRANKS ?? this.size);
    const users = new BigInt64Array(MAX_PROCESSORS);
    for (const processor of processors()) if (processor < MAX_PROCESSORS) users[processor] = 1n;
    await this.sum(users).wait();
    if (local <= users.filter((count) => count > 0n).length) this.patience = { spin: SPIN, naps: NAPS };
  }

  // "MPICH 4.0.2", "Open MPI 4.1.4": the first words of what the library says of itself.
  private version(): string {
    const text = new Uint8Array(8192);
    const length = new Int32Array(1);
    this.check("MPI_Get_library_version", this.mpi.call.MPI_Get_library_version?.(text, length) ?? 1);
    const words = new TextDecoder().decode(text.subarray(0, length[0])).replace(/\0.*$/s, "");
    const number = /v?(\d+\.\d+(?:\.\d+)?)/.exec(words)?.[1] ?? "";
    const name = /Open MPI|MVAPICH\d?|Intel\(R\) MPI|CRAY MPICH|MPICH/.exec(words)?.[0] ?? this.mpi.interface;
    return `${name} ${number}`.trim();
  }

  /** words := their sums over all ranks. */
  sum(words: BigInt64Array): Pending {
    return this.reduce(words, this.mpi.sum);
  }

  /** words := their largest over all ranks, element by element. */
  max(words: BigInt64Array): Pending {
    return this.reduce(words, this.mpi.max);
  }

  private reduce(words: BigInt64Array, operation: Handle): Pending {
    const { mpi } = this;
    return this.start([words], (request) =>
      mpi.call.MPI_Iallreduce?.(mpi.inPlace, words, words.length, mpi.int64, operation, mpi.world, request),
    );
  }

  /** data := the data of the root. */
  broadcast(data: ArrayBufferView, root: number): Pending {
    const { mpi } = this;
    if (this.size <= FEW) return this.exchange(this.rank === root ? this.toOthers(data) : [], [{ rank: root, data }]);
    return this.start(pieces(data), (request, piece) => mpi.call.MPI_Ibcast?.(piece, piece.byteLength, mpi.byte, root, mpi.world, request));
  }

  /** parts[r] := the part of rank r, for every r. They may have different sizes, which every rank knows. */
  shareParts(parts: readonly ArrayBufferView[]): Pending {
    return this.exchange(
      this.toOthers(parts[this.rank] as ArrayBufferView),
      parts.map((data, rank) => ({ rank, data })),
    );
  }

  private toOthers(data: ArrayBufferView): Message[] {
    return Array.from({ length: this.size }, (_, rank) => ({ rank, data })).filter(({ rank }) => rank !== this.rank);
  }

  /** all := the parts of all ranks, one after another. All parts have the same size. */
  gatherAll(part: ArrayBufferView, all: ArrayBufferView): Pending {
    const { mpi } = this;
    if (this.size === 1) {
      bytesOf(all).set(bytesOf(part));
      return DONE;
    }
    if (this.size > FEW && all.byteLength <= SUMMED && all.byteOffset % 8 === 0 && part.byteLength % 8 === 0) {
      const bytes = bytesOf(all).fill(0);
      bytes.set(bytesOf(part), this.rank * part.byteLength);
      return this.sum(new BigInt64Array(all.buffer as ArrayBuffer, all.byteOffset, all.byteLength / 8));
    }
    void all.buffer; // see start()
    return this.start([part], (request) =>
      mpi.call.MPI_Iallgather?.(part, part.byteLength, mpi.byte, all, part.byteLength, mpi.byte, mpi.world, request),
    );
  }

  /**
   * Send and receive messages. What two ranks send each other arrives in order, and every message is received as one of the same size.
   * Empty messages are left out, on both sides. A message to this rank itself is copied.
   */
  exchange(sends: readonly Message[], receives: readonly Message[]): Pending {
    const { mpi, rank } = this;
    const own = receives.filter((message) => message.rank === rank);
    for (const [i, { data }] of sends.filter((message) => message.rank === rank).entries())
      bytesOf((own[i] as Message).data).set(bytesOf(data));
    const piecesOf = (messages: readonly Message[], name: string) =>
      messages
        .filter((message) => message.rank !== rank && message.data.byteLength > 0)
        .flatMap(({ rank: other, data }) => pieces(data).map((piece) => ({ piece, other, name })));
    const all = [...piecesOf(receives, "MPI_Irecv"), ...piecesOf(sends, "MPI_Isend")];
    if (all.length === 0) return DONE;
    return this.start(
      all.map(({ piece }) => piece),
      (request, piece, i) => {
        const { name, other } = all[i] as (typeof all)[number];
        return mpi.call[name]?.(piece, piece.byteLength, mpi.byte, other, TAG, mpi.world, request);
      },
    );
  }

  private start(
    buffers: readonly ArrayBufferView[],
    begin: (request: Uint8Array, buffer: ArrayBufferView, i: number) => number | undefined,
  ): Pending {
    if (this.closed) throw new EngineError("the ranks were closed");
    if (this.size === 1) return DONE;
    for (const each of buffers) void each.buffer; // V8 keeps small arrays on its heap and moves them, until somebody asks for their buffer
    const { requestBytes } = this.mpi;
    const requests = new Uint8Array(requestBytes * buffers.length);
    for (const [i, buffer] of buffers.entries()) {
      const at = requests.subarray(i * requestBytes, (i + 1) * requestBytes);
      this.check("a message", begin(at, buffer, i) ?? 1);
    }
    const pending = new Requests(this.mpi, requests, buffers, this.patience, () => this.pending.delete(pending));
    this.pending.add(pending);
    return pending;
  }

  private check(what: string, code: number): void {
    if (code !== 0) throw new EngineError(`mpi: ${what} failed (${code})`);
  }

  /** Shut MPI down. All ranks have agreed to it. */
  async close(): Promise<void> {
    if (this.closed) return;
    for (const each of [...this.pending]) await each.wait();
    this.closed = true;
    process.off("exit", this.onExit);
    process.off("uncaughtExceptionMonitor", this.onUncaught);
    this.check("MPI_Finalize", this.mpi.call.MPI_Finalize?.() ?? 1);
    isOpen = false;
    wasFinalized = true;
  }

  // At the end of a process whose ranks are open. After an error all other ranks must end too: they would wait for this one forever. A
  // program that just ends has left out close(). If all ranks do, MPI is shut down here; otherwise the job has a mistake.
  private leave(code: number): void {
    if (this.closed) return;
    const { mpi, rank } = this;
    if (code === 0 && this.pending.size === 0 && this.meetAtEnd()) {
      mpi.call.MPI_Finalize?.();
      return;
    }
    // Node prints an uncaught error after this, too late.
    const { stack, message = String(this.uncaught) } = (this.uncaught ?? {}) as Partial<Error>;
    const what = this.uncaught === undefined ? `ended with code ${code} before it closed its ranks` : `failed: ${stack ?? message}`;
    process.stderr.write(`halfulp: rank ${rank} ${what}\n`);
    rest(100); // so that mpirun gets to read it
    mpi.call.MPI_Abort?.(mpi.world, code === 0 ? 1 : code);
  }

  // Wait, blocking, until all ranks end; false if that takes too long, or if another rank makes a call instead.
  private meetAtEnd(): boolean {
    const words = this.ending?.words();
    if (!words) return false;
    const meeting = this.sum(words);
    this.closed = true;
    if (!(meeting instanceof Requests)) return true;
    for (const end = performance.now() + 1000 * END_SECONDS; performance.now() < end; rest(1))
      if (meeting.test()) return this.ending?.agrees(words) === true;
    return false;
  }
}

const bytesOf = (data: ArrayBufferView): Uint8Array => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

function pieces(data: ArrayBufferView): ArrayBufferView[] {
  if (data.byteLength <= MAX_PIECE) return [data];
  const bytes = bytesOf(data);
  return Array.from({ length: Math.ceil(bytes.length / MAX_PIECE) }, (_, i) => bytes.subarray(i * MAX_PIECE, (i + 1) * MAX_PIECE));
}

const DONE: Pending = { wait: async () => {}, test: () => true };

const never = new Int32Array(new SharedArrayBuffer(4));
/** Block this thread, in ms. */
const rest = (ms: number): unknown => Atomics.wait(never, 0, 0, ms);

const flag = new Int32Array(1);

/** What a wait does before it sleeps: it spins for `spin` ms, and naps `naps` times. */
interface Patience {
  readonly spin: number;
  readonly naps: number;
}

/** Requests of MPI that are under way, with the buffers that they use. */
class Requests implements Pending {
  private done = false;

  constructor(
    private readonly mpi: Library,
    private readonly requests: Uint8Array,
    readonly buffers: readonly ArrayBufferView[],
    private readonly patience: Patience,
    private readonly finished: () => void,
  ) {}

  test(): boolean {
    if (this.done) return true;
    const { mpi, requests } = this;
    const code = mpi.call.MPI_Testall?.(requests.length / mpi.requestBytes, requests, flag, mpi.statusesIgnore);
    if (code !== 0) throw new EngineError(`mpi: a message failed (${code})`);
    if (flag[0] === 0) return false;
    this.done = true;
    this.finished();
    return true;
  }

  private testRepeatedly(): boolean {
    for (let k = 0; k < TESTS; k++) if (this.test()) return true;
    return false;
  }

  async wait(): Promise<void> {
    const { spin, naps } = this.patience;
    const end = performance.now() + spin;
    do if (this.test()) return;
    while (performance.now() < end);
    for (let k = 0; k < naps; k++) {
      rest(NAP);
      if (this.testRepeatedly()) return;
    }
    for (let delay = MIN_SLEEP; ; delay = Math.min(MAX_SLEEP, delay * SLEEP_GROWTH)) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (this.testRepeatedly()) return;
    }
  }
}
