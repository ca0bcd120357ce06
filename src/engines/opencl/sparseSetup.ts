import { comesBefore, type Stored } from "../../sparse/analysis.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../device.ts";
import { remoteMemory } from "../remote.ts";
import type { Scope } from "./scope.ts";
import { sparseSetup } from "./sources.generated.ts";

// The set-up phase of sparse triangular solves, on the device: what the plans of src/sparse/ find on the calling thread.

/** Lines of a triangle on the device, without the diagonal: `source` says where an entry is in A. */
export interface DeviceLines {
  readonly begins: DeviceBuffer;
  readonly index: DeviceBuffer;
  readonly source: DeviceBuffer;
  readonly entries: number;
}

/** Unknowns in the order of their levels: those of level m are order[starts[m]] to order[starts[m + 1] - 1], ascending. */
export interface DeviceLevels {
  readonly count: number;
  readonly starts: DeviceBuffer;
  readonly order: DeviceBuffer;
}

/** What finds levels: Kahn's algorithm on columns; or rows in their order, each of which waits for those it needs. */
export type LevelFinder = "kahn" | "rows";

const KEYS = 8; // as in sparseSetup.cl
const DIGIT = 4;
/** Looks at a word that does not change, after which waiting is given up: a second or so, of 0.3 microseconds each, or of 4 ns. */
export const limitOn = (device: Device): number => (device.type === "cpu" ? 2 ** 28 : 2 ** 22);
const WORDS = 4;
const [TAIL, FAILED, HIGHEST] = [1, 2, 3] as const;

/** What Kahn's algorithm works on: how many each unknown waits for still, its level so far, the queue, and words. */
interface Queue {
  readonly counts: DeviceBuffer;
  readonly levels: DeviceBuffer;
  readonly queue: DeviceBuffer;
  readonly words: DeviceBuffer;
}

export class SparseSetup {
  private readonly device: Device;
  readonly group: number;
  private readonly defines: Record<string, string | number>;

  /** Memory is of this scope unless it is said where it stays. */
  constructor(
    readonly scope: Scope,
    readonly triangle: Stored,
    private readonly limit = limitOn(scope.device),
  ) {
    this.device = scope.device;
    this.group = Math.min(256, 2 ** Math.floor(Math.log2(this.device.mostInGroup)));
    this.defines = { GROUP: this.group, ...realOf(triangle.A.values.BYTES_PER_ELEMENT), ...nvidia(this.device) };
  }

  private kernel(name: string, more: Record<string, number> = {}): Kernel {
    return this.device.kernel(name, [sparseSetup], { ...this.defines, ...more });
  }

  /** Start a kernel with one work-item for each of these, or more. */
  private each(name: string, count: number, args: readonly KernelArgument[], more?: Record<string, number>): void {
    this.device.launch(this.kernel(name, more), [Math.max(1, Math.ceil(count / this.group))], [this.group], args);
  }

  private words(...first: number[]): DeviceBuffer {
    return this.scope.copy(Int32Array.from({ length: WORDS }, (_, k) => first[k] ?? 0));
  }

  private *read(words: DeviceBuffer): Work<Int32Array> {
    const copy = new Int32Array(WORDS);
    yield this.device.read(words, copy);
    return copy;
  }

  /** The numbers become the sums of those before them. */
  addUp(numbers: DeviceBuffer, count: number): void {
    const { device, group } = this;
    const blocks = Math.max(1, Math.ceil(count / (group * KEYS)));
    const sums = this.scope.scratch(4 * blocks);
    device.launch(this.kernel("sumBlocks"), [blocks], [group], [count, numbers, sums]);
    device.launch(this.kernel("addBlocks"), [1], [group], [blocks, sums]);
    device.launch(this.kernel("addWithin"), [blocks], [group], [count, numbers, sums]);
  }

  /** Keys below `most`, and one or two numbers that go with each, in a stable order of keys. */
  sort(count: number, most: number, arrays: readonly DeviceBuffer[]): readonly DeviceBuffer[] {
    const { device, group, scope } = this;
    const bits = 32 - Math.clz32(Math.max(0, most - 1));
    if (bits === 0 || count === 0) return arrays;
    const blocks = Math.ceil(count / (group * KEYS));
    const counts = scope.scratch(4 * blocks * 2 ** DIGIT);
    let from = arrays;
    let to: readonly DeviceBuffer[] = arrays.map(() => scope.scratch(4 * count));
    for (let shift = 0; shift < bits; shift += DIGIT) {
      const [keys, one, two = one] = from as [DeviceBuffer, DeviceBuffer, DeviceBuffer?];
      const [toKeys, toOne, toTwo = toOne] = to as [DeviceBuffer, DeviceBuffer, DeviceBuffer?];
      device.launch(this.kernel("countDigits"), [blocks], [group], [count, shift, blocks, keys, counts]);
      this.addUp(counts, blocks * 2 ** DIGIT);
      const move = this.kernel("moveByDigit", arrays.length === 3 ? { TWO: 1 } : {});
      device.launch(move, [blocks], [group], [count, shift, blocks, counts, keys, one, two, toKeys, toOne, toTwo]);
      [from, to] = [to, from];
    }
    return from;
  }

  /** Where the diagonal is in A, and a scratch array of line lengths with how many entries there are. */
  *count(): Work<{ at: DeviceBuffer; begins: DeviceBuffer; entries: number }> {
    const { A, n } = this.triangle;
    const before = Number(comesBefore(this.triangle));
    const begins = this.scope.scratch(4 * (n + 1));
    const at = this.scope.scratch(4 * n);
    this.each("countLines", n + 1, [n, before, this.here(A.pointers), this.here(A.indices), begins, at]);
    this.addUp(begins, n + 1);
    const words = this.scope.scratch(4 * WORDS);
    this.device.copy(begins, words, 4, 4 * n);
    const [entries] = yield* this.read(words);
    return { at, begins, entries: entries as number };
  }

  private readonly uploads = new Map<Int32Array, DeviceBuffer>();
  private here(array: Int32Array): DeviceBuffer {
    const known = remoteMemory(array) ?? this.uploads.get(array) ?? this.scope.copy(array);
    this.uploads.set(array, known);
    return known;
  }

  /** The first unknown without a diagonal entry, or with a zero; n if there is none. */
  *firstSingular(at: DeviceBuffer, values: DeviceBuffer): Work<number> {
    const { n } = this.triangle;
    const words = this.words(n);
    this.each("checkDiagonal", n, [n, at, values, words]);
    return (yield* this.read(words))[0] as number;
  }

  /** The entries along the lines of A as they are stored, or across those, ascending. */
  lines(counted: { begins: DeviceBuffer; entries: number }, across: boolean): DeviceLines {
    const { A, n } = this.triangle;
    const { scope } = this;
    const { entries } = counted;
    const before = Number(comesBefore(this.triangle));
    const [index, source] = [scope.scratch(4 * entries), scope.scratch(4 * entries)];
    const line = across ? scope.scratch(4 * entries) : index;
    const args = [n, before, this.here(A.pointers), this.here(A.indices), counted.begins, index, line, source];
    this.each("fillLines", n, args, across ? { WITH_LINE: 1 } : {});
    if (!across) return { begins: counted.begins, index, source, entries };
    const begins = this.countsOf(index, entries, n + 1);
    this.addUp(begins, n + 1);
    const [, sorted, sources] = this.sort(entries, n, [index, line, source]) as [DeviceBuffer, DeviceBuffer, DeviceBuffer];
    return { begins, index: sorted, source: sources, entries };
  }

  /** How often each of the numbers below `most` is among the keys. */
  countsOf(keys: DeviceBuffer, count: number, most: number): DeviceBuffer {
    const lengths = this.scope.scratch(4 * most);
    this.device.fill(lengths, new Int32Array(1));
    if (count > 0) this.each("countKeys", count, [count, keys, lengths]);
    return lengths;
  }

  /** For each unknown those that wait for it, in any order. */
  columnsOf({ begins, index, entries }: DeviceLines): Pick<DeviceLines, "begins" | "index"> {
    const { n } = this.triangle;
    const { scope } = this;
    const starts = this.countsOf(index, entries, n + 1);
    this.addUp(starts, n + 1);
    const next = scope.scratch(4 * (n + 1));
    this.device.copy(starts, next, 4 * (n + 1));
    const targets = scope.scratch(4 * entries);
    this.each("scatter", n, [n, begins, index, next, targets]);
    return { begins: starts, index: targets };
  }

  /** The level of every unknown, and how many there are, from rows: by themselves or by Kahn's algorithm. */
  *levelsOfRows(rows: DeviceLines, by: LevelFinder, groups: number): Work<{ levels: DeviceBuffer; count: number }> {
    const { n, upper } = this.triangle;
    const { scope } = this;
    if (by === "kahn")
      return yield* this.kahn(this.columnsOf(rows), groups, () => {
        const state = this.queue(scope.scratch(4 * n));
        this.each("kahnBegin", n, [n, rows.begins, state.counts, state.queue, state.levels, state.words]);
        return state;
      });
    const levels = scope.scratch(4 * n);
    this.device.fill(levels, Int32Array.of(-1));
    const words = this.words();
    const args = [n, Number(upper), this.limit, rows.begins, rows.index, levels, words];
    this.device.launch(this.kernel("levelsByRows"), [groups], [this.lanes], args);
    const found = yield* this.read(words);
    if (!found[FAILED]) return { levels, count: (found[HIGHEST] as number) + 1 };
    return yield* this.levelsOfRows(rows, "kahn", groups);
  }

  /** The same from columns. */
  *levelsOfColumns(columns: DeviceLines, groups: number): Work<{ levels: DeviceBuffer; count: number }> {
    const { n } = this.triangle;
    return yield* this.kahn(columns, groups, () => {
      const state = this.queue(this.countsOf(columns.index, columns.entries, n));
      this.each("kahnBeginCounted", n, [n, state.counts, state.queue, state.levels, state.words]);
      return state;
    });
  }

  private queue(counts: DeviceBuffer): Queue {
    const { n } = this.triangle;
    const queue = this.scope.scratch(4 * n);
    this.device.fill(queue, Int32Array.of(-1));
    return { counts, levels: this.scope.scratch(4 * n), queue, words: this.words() };
  }

  // Work-items that take a ticket together: few, for all of them wait for the last.
  private get lanes(): number {
    return Math.min(64, this.group);
  }

  private *kahn(
    { begins, index }: Pick<DeviceLines, "begins" | "index">,
    groups: number,
    begin: () => Queue,
  ): Work<{ levels: DeviceBuffer; count: number }> {
    const { n } = this.triangle;
    const { counts, queue, levels, words } = begin();
    const args = [n, this.limit, begins, index, counts, queue, levels, words];
    this.device.launch(this.kernel("kahn"), [groups], [this.lanes], args);
    const found = yield* this.read(words);
    if (!found[FAILED]) return { levels, count: (found[HIGHEST] as number) + 1 };
    return yield* this.kahnByLevels({ begins, index }, begin());
  }

  // Where work-groups do not make progress side by side: a launch for each level, whose length must be known.
  private *kahnByLevels(
    { begins, index }: Pick<DeviceLines, "begins" | "index">,
    { counts, queue, levels, words }: Queue,
  ): Work<{ levels: DeviceBuffer; count: number }> {
    const { n } = this.triangle;
    let count = 0;
    for (let from = 0; from < n; count++) {
      const to = (yield* this.read(words))[TAIL] as number;
      this.each("kahnLevel", to - from, [from, to, begins, index, counts, queue, levels, words]);
      from = to;
    }
    return { levels, count };
  }

  /** The order by levels, ascending within each. */
  inOrder({ levels, count }: { levels: DeviceBuffer; count: number }): DeviceLevels {
    const { n } = this.triangle;
    const starts = this.countsOf(levels, n, count + 1);
    this.addUp(starts, count + 1);
    const unknowns = this.scope.scratch(4 * n);
    this.each("count", n, [n, unknowns]);
    const [, order] = this.sort(n, count, [levels, unknowns]) as [DeviceBuffer, DeviceBuffer];
    return { count, starts, order };
  }

  /** The lines in this order, with places for unknowns, in memory of `keeper`. */
  moved({ begins, index, source, entries }: DeviceLines, order: DeviceBuffer, keeper: Scope): DeviceLines {
    const { n } = this.triangle;
    const place = this.scope.scratch(4 * n);
    const to = { begins: keeper.scratch(4 * (n + 1)), index: keeper.scratch(4 * entries), source: keeper.scratch(4 * entries) };
    this.each("orderLines", n + 1, [n, order, begins, place, to.begins]);
    this.addUp(to.begins, n + 1);
    this.each("moveLines", n, [n, order, place, begins, index, source, to.begins, to.index, to.source]);
    return { ...to, entries };
  }

  /** The lines as they are, in memory of `keeper`. */
  copied({ begins, index, source, entries }: DeviceLines, keeper: Scope): DeviceLines {
    const kept = (from: DeviceBuffer): DeviceBuffer => {
      const to = keeper.scratch(from.bytes);
      this.device.copy(from, to, from.bytes);
      return to;
    };
    return { begins: kept(begins), index: kept(index), source: kept(source), entries };
  }

  /** Tasks of so many lines, none of more than one level, in memory of `keeper`. */
  *tasks({ count, starts }: DeviceLevels, size: number, keeper: Scope): Work<{ list: DeviceBuffer; count: number }> {
    const tasks = this.scope.scratch(4 * (count + 1));
    this.each("countTasks", count + 1, [count, size, starts, tasks]);
    this.addUp(tasks, count + 1);
    const words = this.scope.scratch(4 * WORDS);
    this.device.copy(tasks, words, 4, 4 * count);
    const [total] = yield* this.read(words);
    const list = keeper.scratch(12 * (total as number));
    this.each("fillTasks", count, [count, size, starts, tasks, list]);
    return { list, count: total as number };
  }

  /** Values of A to the entries that came from there. */
  takeValues(source: DeviceBuffer, count: number, values: DeviceBuffer, to: DeviceBuffer): void {
    if (count > 0) this.each("takeValues", count, [count, source, values, to]);
  }

  /** The diagonal to the lines, which may be in an order. */
  takeDiagonal(order: DeviceBuffer | undefined, at: DeviceBuffer, values: DeviceBuffer, to: DeviceBuffer): void {
    const { n } = this.triangle;
    this.each("takeDiagonal", n, [n, order ?? at, at, values, to], order ? { IN_ORDER: 1 } : {});
  }
}

/** Definitions for arrays of this width. */
export const realOf = (bytes: number) => ({ REAL: bytes === 8 ? "double" : "float", REAL_BYTES: bytes });

/** What NVIDIA's compiler knows beside OpenCL C. */
export const nvidia = (device: Device): Record<string, number> => (device.vendor.startsWith("NVIDIA") ? { NVIDIA: 1 } : {});
