// The kernels of the set-up phase of sparse triangular solves, which finds on the device what src/routines/sparse finds on the calling
// thread. A SetupKernels holds what its parts share: triangle.ts, scan.ts, sort.ts, levels.ts, reorder.ts and values.ts launch through it.
import { type Integers, isOnHost } from "../../../arrays/operands.ts";
import { linesEndAtDiagonal, type TriangleSource } from "../../../arrays/triangle.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import { realOf } from "../device/numbers.ts";
import { setupSources } from "./sources.ts";
import { waitLimit, windowFor } from "./tuning.ts";
import { SETUP_WORDS } from "./words.ts";

export class SetupKernels {
  readonly device: Device;
  readonly group: number;
  private readonly defines: Record<string, string | number>;
  private readonly uploads = new Map<Integers, DeviceBuffer>();

  /** Memory belongs to `scope`, unless a function takes another one for its result. */
  constructor(
    readonly scope: Scope,
    readonly triangle: Omit<TriangleSource, "info">,
    readonly limit = waitLimit(scope.device),
  ) {
    this.device = scope.device;
    this.group = Math.min(256, 2 ** Math.floor(Math.log2(this.device.maxGroupSize)));
    this.defines = { GROUP: this.group, ...realDefines(triangle.A.values.BYTES_PER_ELEMENT) };
  }

  kernel(name: string, more: Record<string, number> = {}): Kernel {
    return this.device.kernel(name, setupSources, { ...this.defines, ...more });
  }

  /** Start a kernel with at least `count` work-items, at least one group. */
  forEach(name: string, count: number, args: readonly KernelArgument[], more?: Record<string, number>): void {
    this.device.launch(this.kernel(name, more), [Math.max(1, Math.ceil(count / this.group))], [this.group], args);
  }

  /** New words, all 0: see words.ts. */
  newWords(): DeviceBuffer {
    const words = this.scope.scratch(4 * SETUP_WORDS);
    this.device.fill(words, new Int32Array(1));
    return words;
  }

  *readWords(words: DeviceBuffer): Work<Int32Array> {
    const copy = new Int32Array(SETUP_WORDS);
    yield this.device.read(words, copy);
    return copy;
  }

  /** Whether the entries of the triangle come before the diagonal in their row or column of A, as kernels take it. */
  get before(): number {
    return Number(linesEndAtDiagonal(this.triangle));
  }

  /** The pattern of A, copied to the device at most once. */
  get stored(): { readonly begins: DeviceBuffer; readonly index: DeviceBuffer } {
    const { A } = this.triangle;
    return { begins: this.onDevice(A.pointers), index: this.onDevice(A.indices) };
  }

  private onDevice(array: Integers): DeviceBuffer {
    if (!isOnHost(array)) return bufferOf(array);
    const known = this.uploads.get(array) ?? this.scope.copy(array);
    this.uploads.set(array, known);
    return known;
  }

  /** Definitions for kernels that read rows from A. Before they are counted, a row is expected to have half the average entries of A. */
  get fromA(): Record<string, number> {
    const { A, n } = this.triangle;
    return { FROM_A: 1, WINDOW: windowFor(Math.ceil((A.indices.length / Math.max(1, n) - 1) / 2)) };
  }
}

/** Definitions for numbers of this width. */
export const realDefines = (bytes: number) => ({ REAL: realOf(bytes), REAL_BYTES: bytes });
