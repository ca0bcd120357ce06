// What every distributed routine works with: the communicator, the engine of this rank, and how a call begins. Every rank makes the same
// calls in the same order (SPMD). call() makes sure of it: in the first exchange of a call, all ranks compare what they were asked for.
import { EngineError, HalfulpError, ShapeError } from "../arrays/errors.ts";
import type { Backend } from "../engines/backend.ts";
import type { Communicator } from "./mpi/communicator.ts";

/** What distinguishes one call from another, besides its name: shapes, options, formats. Parts that may differ between ranks are left out. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

// The first exchange of every call is one sum of HEADER + PAYLOAD words, whatever the call: so ranks that make different calls meet in it.
// The header has two hashes of the call, each with its square, and the number of ranks that refused their arguments. The hashes h are
// equal on all p ranks exactly if p * sum(h^2) = sum(h)^2 (Cauchy and Schwarz). With 24 bits the squares of 2^15 ranks fit into a word.
const HASHES = [0x811c9dc5, 0x2f0b4a37];
const HEADER = 2 * HASHES.length + 1;
const REFUSED = HEADER - 1;
/** Words of the first exchange that the call itself can use. They are summed over all ranks. */
export const PAYLOAD = 244;
const MAX_HASHED_RANKS = 2 ** 15;
const TEXT = 400; // bytes of the description of a call, if ranks must be told apart

/** The state that all routines of one openRanks() share. */
export class Context {
  private last: Promise<unknown> = Promise.resolve();
  private closing = false;

  constructor(
    readonly comm: Communicator,
    readonly backend: Backend,
  ) {
    if (comm.size > MAX_HASHED_RANKS) throw new EngineError(`openRanks: ${comm.size} ranks, expected at most ${MAX_HASHED_RANKS}`);
    comm.ending = {
      words() {
        const words = new BigInt64Array(HEADER + PAYLOAD);
        writeHeader(words, describeCall(CLOSE, {}), false);
        return words;
      },
      agrees: (words) => agrees(words, comm.size),
    };
  }

  /**
   * Make a call of all ranks. `prepare` runs at once: it checks the arguments, reads those that the caller may change later, and returns
   * the facts that must be the same on every rank, and optionally words for the first exchange. `body` runs after the exchange and gets
   * the sums of those words. If `prepare` throws on one rank, or if the facts differ, every rank throws. Calls run one after another.
   */
  async call<R>(name: string, prepare: () => Prepared<R>): Promise<R> {
    if (this.closing) throw new EngineError(`${name}: the ranks were closed`);
    let prepared: Prepared<R> | Refusal;
    try {
      prepared = prepare();
    } catch (error) {
      prepared = new Refusal(error);
    }
    const before = this.last;
    const mine = (async () => {
      await before.catch(() => undefined);
      const payload = await this.agree(name, prepared);
      return (prepared as Prepared<R>).body(payload);
    })();
    this.last = mine;
    return mine;
  }

  /** Do something once all calls that were made so far are done. */
  afterCalls(action: () => void): void {
    this.last.then(action, action);
  }

  private async agree(name: string, prepared: Prepared<unknown> | Refusal): Promise<Int32Array> {
    const { comm } = this;
    const words = new BigInt64Array(HEADER + PAYLOAD);
    const payload = new Int32Array(words.buffer).subarray(2 * HEADER);
    const refusal = prepared instanceof Refusal ? prepared : await fill(payload, prepared);
    if (comm.size === 1) {
      if (refusal) throw refusal.error;
      return payload;
    }
    const text = describeCall(name, prepared instanceof Refusal ? {} : prepared.facts);
    writeHeader(words, text, refusal !== undefined);
    await comm.sum(words).wait();
    if (agrees(words, comm.size)) return payload;
    throw await this.disagreement(name, text, refusal);
  }

  // The error for ranks that differ, or that refused their arguments: a second exchange tells which.
  private async disagreement(name: string, text: string, refusal: Refusal | undefined): Promise<unknown> {
    const { comm } = this;
    const own = new Uint8Array(TEXT);
    new TextEncoder().encodeInto(refusal ? `!${refusal.message}` : shortened(text), own);
    const all = new Uint8Array(TEXT * comm.size);
    await comm.gatherAll(own, all).wait();
    if (refusal) return refusal.error;
    const texts = Array.from({ length: comm.size }, (_, r) =>
      new TextDecoder().decode(all.subarray(r * TEXT, (r + 1) * TEXT)).replace(/[\0\ufffd]+$/, ""),
    );
    const refused = texts.findIndex((each) => each.startsWith("!"));
    if (refused >= 0) return new OtherRankRefused(`${name}: rank ${refused} refused its arguments: ${texts[refused]?.slice(1)}`);
    const counts = new Map<string, number[]>();
    for (const [r, each] of texts.entries()) counts.set(each, [...(counts.get(each) ?? []), r]);
    const groups = [...counts].sort(([, a], [, b]) => b.length - a.length);
    const [usual] = groups as [[string, number[]]];
    const others = groups.slice(1).map(([each, ranks]) => `${ranksInWords(ranks)} called ${each}`);
    return new ShapeError(`${name}: ${others.join(", ")}, expected ${usual[0]} as on ${ranksInWords(usual[1])}`);
  }

  /** Wait for all calls, then close the engine and MPI. Later calls fail. */
  async close(): Promise<void> {
    if (this.closing) return;
    const closed = this.call(CLOSE, () => ({ facts: {}, body: () => undefined }));
    this.closing = true;
    await closed;
    await this.backend.close();
    await this.comm.close();
  }
}

const CLOSE = "close";

/** What this rank threw instead of preparing a call: any value. */
class Refusal {
  constructor(readonly error: unknown) {}

  get message(): string {
    return String((this.error as Partial<Error> | null | undefined)?.message ?? this.error);
  }
}

// Fill the words of a call. A failure becomes a refusal, so that all ranks hear of it in the exchange.
async function fill(payload: Int32Array, prepared: Prepared<unknown>): Promise<Refusal | undefined> {
  try {
    await prepared.payload?.(payload);
    return undefined;
  } catch (error) {
    payload.fill(0);
    return new Refusal(error);
  }
}

function writeHeader(words: BigInt64Array, text: string, refuses: boolean): void {
  for (const [k, seed] of HASHES.entries()) {
    const h = BigInt(hash(text, seed));
    words[2 * k] = h;
    words[2 * k + 1] = h * h;
  }
  words[REFUSED] = refuses ? 1n : 0n;
}

// Whether all ranks made the same call, and none refused its arguments.
function agrees(words: BigInt64Array, size: number): boolean {
  const p = BigInt(size);
  const isSame = (k: number): boolean => p * (words[2 * k + 1] as bigint) === (words[2 * k] as bigint) ** 2n;
  return HASHES.every((_, k) => isSame(k)) && words[REFUSED] === 0n;
}

/** What a call does after its arguments were checked. */
export interface Prepared<R> {
  readonly facts: Facts;
  /** Fills the words of the first exchange: 64-bit integers, as pairs of 32-bit halves, the low one first. */
  payload?(halves: Int32Array): void | Promise<void>;
  /** Runs once all ranks agree, with the sums of those words. */
  body(halves: Int32Array): R | Promise<R>;
}

// Thrown on ranks that were fine, because another rank failed or refused its arguments: that one has the reason.
class OtherRankError extends HalfulpError {}
class OtherRankRefused extends ShapeError {}

/** Whether an error says only that another rank has one. */
export const isOfAnotherRank = (error: unknown): boolean => error instanceof OtherRankError || error instanceof OtherRankRefused;

/**
 * Run `body`, which may fail on some ranks only: then it fails on all. Ranks that failed throw their own error, the others one that
 * names the first of them.
 */
export async function together<R>({ comm }: Context, name: string, body: () => R | Promise<R>): Promise<R> {
  let result: R | undefined;
  let failure: unknown;
  try {
    result = await body();
  } catch (error) {
    failure = error ?? new HalfulpError(`${name}: failed`);
  }
  const flags = new Int32Array(Math.max(16, comm.size));
  await comm.gatherAll(Int32Array.of(failure === undefined ? 0 : 1), flags).wait();
  const first = flags.indexOf(1);
  if (first < 0) return result as R;
  throw failTogether(name, failure, first);
}

/** The error of a rank after one or several have failed: its own, or one that names the first. */
export function failTogether(name: string, failure: unknown, first: number): unknown {
  return failure === undefined ? new OtherRankError(`${name}: rank ${first} failed`) : failure;
}

function describeCall(name: string, facts: Facts): string {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  return `${name}(${entries.map(([key, value]) => `${key} ${value}`).join(", ")})`;
}

// A description that fits into the second exchange. The hashes tell apart those which begin alike.
function shortened(text: string): string {
  if (new TextEncoder().encode(text).length <= TEXT) return text;
  return `${text.slice(0, TEXT / 4)}... (hash ${HASHES.map((seed) => hash(text, seed).toString(16)).join("")})`;
}

// FNV-1a, folded to 24 bits.
function hash(text: string, seed: number): number {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return ((h >>> 24) ^ h) & 0xffffff;
}

function ranksInWords(ranks: readonly number[]): string {
  if (ranks.length === 1) return `rank ${ranks[0]}`;
  return `ranks ${ranks.slice(0, -1).join(", ")} and ${ranks.at(-1)}`;
}
