// The kernels of one rank for exlu over ranks (assembly/dense/luRanks.ts), in a memory of their own. src/ranks/dense/lu.ts has the order of
// their calls.
import { EngineError } from "../../arrays/errors.ts";
import { embeddedMemory } from "../embeddedVectors.ts";
import { Arena, fixedMemory, LIMIT } from "./arena.ts";
import { FRAME, LU_BLOCK, LU_COLUMN, LU_MESSAGE } from "./assembly/layout.ts";
import { withMatrices } from "./load.ts";
import type { WasmModule } from "./objects.ts";

/** Columns that are factored together. */
export const BLOCK = LU_BLOCK;
/** Columns of a group. Group g belongs to rank g mod size. */
export const GROUP = 8;

// Tells how much memory a factorization needs.
let planner: Arena | undefined;

/** One rank's part of the factorization of a matrix. */
export class LuKernels {
  private readonly arena: Arena;
  /** What this rank proposes for a column, and the proposals of all ranks. */
  readonly message: Uint8Array;
  readonly messages: Uint8Array;
  readonly pivots: Int32Array;
  private readonly counts: Int32Array; // rows of L of each rank
  private readonly groups: number; // the address of this rank's groups
  private readonly scratch: number; // that of sums and rows of L, behind the groups
  private readonly groupBytes: number; // rows of eight numbers, then a record for each column

  constructor(rows: number, cols: number, rank: number, size: number) {
    const wasm = embeddedMemory();
    if (!wasm) throw new EngineError("exlu: ranks need WebAssembly, which is not allowed here");
    const module = withMatrices(wasm).modules.matrices as WasmModule;
    // The columns, then rows of L, then sums, panel and pivot rows. Addresses have 32 bits.
    const share = rows * Math.ceil(cols / GROUP / size) * GROUP;
    if (8 * (2 * share + 300 * (rows + cols)) > LIMIT)
      throw new EngineError(`exlu: a matrix of ${rows} by ${cols} on ${size} ranks has ${share} entries each, expected at most 2^28`);
    const arenaOf = (bytes: number): Arena => new Arena(() => module, fixedMemory(bytes));
    const plan = (arena: Arena): number => arena.call("luRanksPlan", FRAME, rows, cols, 0, rank, size);
    planner ??= arenaOf(0);
    try {
      this.arena = arenaOf(plan(planner) - FRAME);
    } catch (cause) {
      throw new EngineError(`exlu: no memory for the ${share} entries of rank ${rank}`, { cause });
    }
    const { arena } = this;
    plan(arena);
    arena.call("luRanksBegin");
    this.message = this.bytes(arena.call("luRanksMessage"), LU_MESSAGE);
    this.messages = this.bytes(arena.call("luRanksMessages"), size * LU_MESSAGE);
    this.pivots = new Int32Array(arena.buffer, arena.call("luRanksPivots"), Math.min(rows, cols));
    this.counts = new Int32Array(arena.buffer, arena.call("luRanksCounts"), size);
    this.groups = arena.call("luRanksGroup", rank);
    this.scratch = arena.call("luRanksScratch");
    this.groupBytes = 64 * rows + GROUP * LU_COLUMN;
  }

  private bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.arena.buffer, at, length);
  }

  /** The memory of all groups. Column c of this rank begins at colStart(c), and its entries are GROUP apart. */
  get data(): Float64Array {
    return this.arena.binary64;
  }

  colStart(c: number): number {
    return (this.groups + Math.floor(c / GROUP) * this.groupBytes) / 8 + (c % GROUP);
  }

  /** After the factorization: an array in the place of sums and rows of L, which are lost; undefined if it does not fit there. */
  inPlaceOfRows(length: number): Float64Array | undefined {
    return this.reused(this.scratch, length, this.arena.buffer.byteLength);
  }

  /** The same in the place of the groups. */
  inPlaceOfGroups(length: number): Float64Array | undefined {
    return this.reused(this.groups, length, this.scratch);
  }

  private reused(at: number, length: number, end: number): Float64Array | undefined {
    return at + 8 * length <= end ? new Float64Array(this.arena.buffer, at, length) : undefined;
  }

  /** A group with its records: this rank's own, or the place for one of the current panel. */
  group(g: number): Uint8Array {
    return this.bytes(this.arena.call("luRanksGroup", g), this.groupBytes);
  }

  /** Prepare one of this rank's groups. Returns -1, or the place GROUP * row + lane of its first entry that is not finite. */
  place(g: number): number {
    return this.arena.call("luRanksPlace", g);
  }

  /** The sums of the rows of this rank in the panel that begins at this column. */
  sums(first: number): void {
    this.arena.call("luRanksSums", first);
  }

  /**
   * Prepare to factor this panel by itself on every rank: what this rank has to tell the others, and room for what all tell. Undefined if
   * the panel is too long.
   */
  share(): readonly [own: Uint8Array, all: Uint8Array] | undefined {
    const { arena } = this;
    if (arena.call("luRanksCanShare") === 0) return undefined;
    const bytes = arena.call("luRanksShare");
    return [this.bytes(arena.call("luRanksOwnPart"), bytes), this.bytes(arena.call("luRanksParts"), bytes * this.counts.length)];
  }

  /** With the parts of all ranks, factor the panel up to column `end`. Returns the column from which on the ranks decide together. */
  panel(end: number): number {
    return this.arena.call("luRanksPanel", end);
  }

  /** Column j of the rows of this rank; the message then has the pivot that it proposes. */
  propose(j: number): void {
    this.arena.call("luRanksPropose", j);
  }

  /** The rest of step j, with the proposals of all ranks. */
  pivot(j: number): "done" | "singular" | "overflowed" {
    return (["done", "singular", "overflowed"] as const)[this.arena.call("luRanksPivot", j)] as "done";
  }

  /**
   * Prepare the exchange of the rows of L at the positions from `from` on, `length` numbers each. Returns what each rank has of them, in
   * the order of the ranks.
   */
  pack(from: number, count: number, length: number): Uint8Array[] {
    const { arena } = this;
    arena.call("luRanksPack", from, count, length);
    let at = arena.call("luRanksRows", from);
    return Array.from(this.counts, (rows) => {
      const bytes = this.bytes(at, 8 * rows * length);
      at += bytes.length;
      return bytes;
    });
  }

  /** After the exchange: store these rows. */
  store(from: number, count: number): void {
    this.arena.call("luRanksUnpack", from, count);
    this.arena.call("luRanksStore", from, count);
  }

  /** These rows of U in one of this rank's groups, right of the panel. */
  solve(g: number, from: number, count: number): void {
    this.arena.call("luRanksSolve", g, from, count);
  }

  /** The first entry of this rank that overflowed, in the order of the unblocked algorithm: column * rows + row, or infinity. */
  get overflowed(): number {
    return this.arena.call("luRanksFailed");
  }
}
