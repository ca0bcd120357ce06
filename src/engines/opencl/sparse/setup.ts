import { type Integers, isOnHost } from "../../../arrays/operands.ts";
import { comesBefore, type TriangleSource } from "../../../arrays/triangle.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import { realOf } from "../device/numbers.ts";
import type { Scope } from "../device/scope.ts";
import { setup as sparseSetup, waiting } from "./sources.generated.ts";

// The set-up phase of sparse triangular solves, on the device: what the plans of src/sparse/ find on the calling thread.

/** Lines of a triangle on the device, without the diagonal: `source` says where an entry is in A. */
export interface DeviceLines {
  readonly begins: DeviceBuffer;
  readonly index: DeviceBuffer;
  readonly source: DeviceBuffer;
  readonly entries: number;
}

/** Values of lines, their diagonal and its reciprocals, and how many significant bits any of the numbers has at the most. */
export interface DeviceNumbers {
  readonly values: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly reciprocals: DeviceBuffer;
  readonly significantBits: DeviceBuffer;
}

/** Unknowns in the order of their levels: those of level m are order[starts[m]] to order[starts[m + 1] - 1], ascending. */
export interface DeviceLevels {
  readonly count: number;
  readonly starts: DeviceBuffer;
  readonly order: DeviceBuffer;
}

/** How kernels of the set-up phase are started that wait. */
export interface SetupTuning {
  readonly finder: LevelFinder;
  readonly setupGroups: number;
  /** Work-items in a group. They take a ticket together: few, for all of them wait for the last. */
  readonly setupGroup: number;
}

// Windows there are kernels for: each is compiled on its own. Short rows: 3 is best for 2 entries too.
const WINDOWS = [3, 4, 8, 13] as const;

/** How many entries of a row are waited for at once, where rows have up to so many. */
export const windowFor = (longest: number): number => WINDOWS.find((window) => window >= longest) ?? 13;

/** What finds levels: Kahn's algorithm on columns; or rows in their order, each of which waits for those it needs. */
export type LevelFinder = "kahn" | "rows";

const KEYS = 8; // as in setup.cl
// Bits of a key that a pass of the sort looks at, at the most. Of 6 two passes take longer than three of 4.
const DIGIT = 5;
/** Looks at a word that does not change, after which waiting is given up: a second or so, of 0.3 microseconds each, or of 4 ns. */
export const limitOn = (device: Device): number => (device.type === "cpu" ? 2 ** 28 : 2 ** 22);
const WORDS = 8;
const [TAIL, FAILED, HIGHEST, ENTRIES, LONGEST, SINGULAR] = [1, 2, 3, 4, 5, 6] as const;

/** Lengths of the lines of A within the triangle, from where to where they are, and its diagonal; `words` will have more. */
export interface Counting {
  readonly lengths: DeviceBuffer;
  readonly firsts: DeviceBuffer;
  readonly ends: DeviceBuffer;
  readonly at: DeviceBuffer;
  readonly words: DeviceBuffer;
}

/** What was counted. */
export interface Counted {
  readonly entries: number;
  readonly longest: number;
  /** The first unknown without a diagonal entry, or with a zero; n if there is none. */
  readonly singular: number;
}

/** Rows of a triangle as they are in A, maybe with entries among them that are not of the triangle. */
export interface StoredRows {
  readonly begins: DeviceBuffer;
  readonly ends: DeviceBuffer;
  readonly index: DeviceBuffer;
  readonly lengths: DeviceBuffer;
  readonly entries: number;
}

/** The level of every unknown, and how many there are. */
export interface FoundLevels {
  readonly levels: DeviceBuffer;
  readonly count: number;
}

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
    readonly triangle: Omit<TriangleSource, "info">,
    private readonly limit = limitOn(scope.device),
  ) {
    this.device = scope.device;
    this.group = Math.min(256, 2 ** Math.floor(Math.log2(this.device.maxGroupSize)));
    this.defines = { GROUP: this.group, ...defining(triangle.A.values.BYTES_PER_ELEMENT) };
  }

  private kernel(name: string, more: Record<string, number> = {}): Kernel {
    return this.device.kernel(name, [waiting, sparseSetup], { ...this.defines, ...more });
  }

  /** Start a kernel with one work-item for each of these, or more. */
  private each(name: string, count: number, args: readonly KernelArgument[], more?: Record<string, number>): void {
    this.device.launch(this.kernel(name, more), [Math.max(1, Math.ceil(count / this.group))], [this.group], args);
  }

  private words(): DeviceBuffer {
    const words = this.scope.scratch(4 * WORDS);
    this.device.fill(words, new Int32Array(1));
    return words;
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
    device.launch(this.kernel("scanBlocks"), [1], [group], [blocks, sums]);
    device.launch(this.kernel("scanWithin"), [blocks], [group], [count, numbers, sums]);
  }

  /** Keys below `most`, and one or two numbers that go with each, in a stable order of keys; of keys alone also their places. */
  sort(count: number, most: number, arrays: readonly DeviceBuffer[]): readonly DeviceBuffer[] {
    const { device, group, scope } = this;
    // One pass at least: it is that which counts.
    const bits = Math.max(1, 32 - Math.clz32(Math.max(0, most - 1)));
    const passes = Math.ceil(bits / DIGIT);
    const DIGITS = { DIGIT: Math.ceil(bits / passes) };
    const blocks = Math.max(1, Math.ceil(count / (group * KEYS)));
    const counts = scope.scratch(4 * blocks * 2 ** DIGITS.DIGIT);
    const width = Math.max(2, arrays.length);
    let from = arrays;
    let spare: readonly DeviceBuffer[] = [];
    for (let pass = 0; pass < passes; pass++) {
      const shift = pass * DIGITS.DIGIT;
      const to = Array.from({ length: width }, (_, k) => spare[k] ?? scope.scratch(4 * count));
      const [keys, one = keys, two = one] = from as [DeviceBuffer, DeviceBuffer?, DeviceBuffer?];
      const [toKeys, toOne = toKeys, toTwo = toOne] = to as [DeviceBuffer, DeviceBuffer?, DeviceBuffer?];
      const kind = { ...DIGITS, ...(from.length === 3 ? { TWO: 1 } : from.length === 1 ? { COUNTED: 1 } : {}) };
      device.launch(this.kernel("countDigits", kind), [blocks], [group], [count, shift, blocks, keys, counts]);
      this.addUp(counts, blocks * 2 ** DIGITS.DIGIT);
      device.launch(
        this.kernel("moveByDigit", kind),
        [blocks],
        [group],
        [count, shift, blocks, counts, keys, one, two, toKeys, toOne, toTwo],
      );
      [from, spare] = [to, from];
    }
    return from;
  }

  /** Count, without waiting for it. The lengths have room for one more. */
  counting(values: DeviceBuffer): Counting {
    const { n, unit } = this.triangle;
    const [lengths, firsts, ends, at] = [n + 1, n, n, n].map((count) => this.scope.scratch(4 * count)) as [
      DeviceBuffer,
      DeviceBuffer,
      DeviceBuffer,
      DeviceBuffer,
    ];
    const counting = { lengths, firsts, ends, at, words: this.words() };
    const { begins, index } = this.stored;
    this.each("countLines", n + 1, [n, this.before, Number(unit), begins, index, values, lengths, firsts, ends, at, counting.words]);
    return counting;
  }

  /** What has been counted, and whatever else is in the words. */
  *counted({ words }: Counting): Work<Counted & { readonly found: Int32Array }> {
    const found = yield* this.read(words);
    const { n } = this.triangle;
    return { entries: found[ENTRIES] as number, longest: found[LONGEST] as number, singular: n - (found[SINGULAR] as number), found };
  }

  private get before(): number {
    return Number(comesBefore(this.triangle));
  }

  private get stored(): Pick<DeviceLines, "begins" | "index"> {
    const { A } = this.triangle;
    return { begins: this.onDevice(A.pointers), index: this.onDevice(A.indices) };
  }

  /** Rows where they are in A, if that has them. */
  rowsOf({ firsts, ends, lengths }: Counting, entries: number): StoredRows {
    return { begins: firsts, ends, index: this.stored.index, lengths, entries };
  }

  private readonly uploads = new Map<Integers, DeviceBuffer>();
  private onDevice(array: Integers): DeviceBuffer {
    if (!isOnHost(array)) return bufferOf(array);
    const known = this.uploads.get(array) ?? this.scope.copy(array);
    this.uploads.set(array, known);
    return known;
  }

  /** The first unknown without a diagonal entry, or with a zero; n if there is none. */
  *firstSingular(at: DeviceBuffer, values: DeviceBuffer): Work<number> {
    const { n } = this.triangle;
    const words = this.words();
    this.each("checkDiagonal", n, [n, at, values, words]);
    return n - ((yield* this.read(words))[SINGULAR] as number);
  }

  /** The entries along the lines of A as they are stored, or across those, ascending. The lengths become beginnings. */
  lines({ lengths }: Counting, entries: number, across: boolean): DeviceLines {
    const { n } = this.triangle;
    const { scope } = this;
    const [index, source] = [scope.scratch(4 * entries), scope.scratch(4 * entries)];
    const line = across ? scope.scratch(4 * entries) : index;
    const { stored } = this;
    this.addUp(lengths, n + 1);
    const args = [n, this.before, stored.begins, stored.index, lengths, index, line, source];
    this.each("fillLines", n, args, across ? { WITH_LINE: 1 } : {});
    if (!across) return { begins: lengths, index, source, entries };
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

  // Definitions for kernels that take rows from A: before anything is counted a row has half of what A has on the average.
  private get fromA(): Record<string, number> {
    const { A, n } = this.triangle;
    return { FROM_A: 1, WINDOW: windowFor(Math.ceil((A.indices.length / Math.max(1, n) - 1) / 2)) };
  }

  /** Start to find the level of every unknown by rows, which `levelsFound` tells from the words. */
  findLevels(rows: DeviceLines | StoredRows, words: DeviceBuffer, { setupGroups, setupGroup }: SetupTuning): DeviceBuffer {
    const { n, upper } = this.triangle;
    const levels = this.scope.scratch(4 * n);
    this.device.fill(levels, Int32Array.of(-1));
    const [ends, more] = "ends" in rows ? [rows.ends, this.fromA] : [rows.begins, {}];
    const args = [n, Number(upper), this.limit, rows.begins, ends, rows.index, levels, words];
    const size = Math.min(setupGroup, this.group);
    this.device.launch(this.kernel("levelsByRows", more), [setupGroups], [size], args);
    return levels;
  }

  /** How many levels there are, or 0 if waiting for them was given up. */
  levelsFound(found: Int32Array): number {
    return found[FAILED] ? 0 : (found[HIGHEST] as number) + 1;
  }

  /** The levels of rows: by themselves or by Kahn's algorithm. */
  *levelsOfRows(rows: DeviceLines, tuning: SetupTuning): Work<FoundLevels> {
    const { n } = this.triangle;
    const { scope } = this;
    if (tuning.finder === "kahn")
      return yield* this.kahn(this.columnsOf(rows), tuning, () => {
        const state = this.queue(scope.scratch(4 * n));
        this.each("kahnBegin", n, [n, rows.begins, state.counts, state.queue, state.levels, state.words]);
        return state;
      });
    const words = this.words();
    const levels = this.findLevels(rows, words, tuning);
    const count = this.levelsFound(yield* this.read(words));
    return count > 0 ? { levels, count } : yield* this.levelsOfRows(rows, { ...tuning, finder: "kahn" });
  }

  /** The same from columns. */
  *levelsOfColumns(columns: DeviceLines, tuning: SetupTuning): Work<FoundLevels> {
    const { n } = this.triangle;
    return yield* this.kahn(columns, tuning, () => {
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

  private *kahn(
    { begins, index }: Pick<DeviceLines, "begins" | "index">,
    { setupGroups, setupGroup }: SetupTuning,
    begin: () => Queue,
  ): Work<FoundLevels> {
    const { n } = this.triangle;
    const { counts, queue, levels, words } = begin();
    const args = [n, this.limit, begins, index, counts, queue, levels, words];
    this.device.launch(this.kernel("kahn"), [setupGroups], [Math.min(setupGroup, this.group)], args);
    const found = yield* this.read(words);
    if (!found[FAILED]) return { levels, count: (found[HIGHEST] as number) + 1 };
    return yield* this.kahnByLevels({ begins, index }, begin());
  }

  // Where work-groups do not make progress side by side: a launch for each level, whose length must be known.
  private *kahnByLevels(
    { begins, index }: Pick<DeviceLines, "begins" | "index">,
    { counts, queue, levels, words }: Queue,
  ): Work<FoundLevels> {
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
  inOrder({ levels, count }: FoundLevels): DeviceLevels {
    const { n } = this.triangle;
    const starts = this.scope.scratch(4 * (count + 1));
    const [keys, order] = this.sort(n, count, [levels]) as [DeviceBuffer, DeviceBuffer];
    this.each("findStarts", n + 1, [n, count, keys, starts]);
    return { count, starts, order };
  }

  /** Rows or columns in this order, with places for unknowns, in memory of `keeper`. */
  moved(lines: DeviceLines | StoredRows, order: DeviceBuffer, keeper: Scope): DeviceLines {
    const { n } = this.triangle;
    const { begins, index, entries } = lines;
    const [known, source, more] = "source" in lines ? [begins, lines.source, {}] : [lines.lengths, index, this.fromA];
    const place = this.scope.scratch(4 * n);
    const to = { begins: keeper.scratch(4 * (n + 1)), index: keeper.scratch(4 * entries), source: keeper.scratch(4 * entries) };
    this.each("orderLines", n + 1, [n, order, known, place, to.begins], more);
    this.addUp(to.begins, n + 1);
    this.each("moveLines", n, [n, this.before, order, place, begins, index, source, to.begins, to.index, to.source], more);
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

  /** Values of A to the entries that came from there, and the diagonal to the lines, which may be in an order. */
  takeNumbers(
    { source, entries }: DeviceLines,
    order: DeviceBuffer | undefined,
    at: DeviceBuffer,
    from: DeviceBuffer,
    to: DeviceNumbers,
  ): void {
    const { n, unit } = this.triangle;
    const { values, diagonal, reciprocals, significantBits } = to;
    this.device.fill(significantBits, new Int32Array(1));
    if (entries > 0) this.each("takeValues", entries, [entries, source, from, values, significantBits]);
    if (unit || n === 0) return;
    this.each("takeDiagonal", n, [n, order ?? at, at, from, diagonal, reciprocals, significantBits], order ? { IN_ORDER: 1 } : {});
  }
}

/** Definitions for arrays of this width. */
export const defining = (bytes: number) => ({ REAL: realOf(bytes), REAL_BYTES: bytes });
