// Launches a sparse triangular solve level by level: no work-group waits for another. Called by plan.ts; follows LEVR of the sparse paper.
import type { Real } from "../../../arrays/types.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { DeviceBuffer } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import type { RowsByLevels } from "./levels.ts";
import { solve as source } from "./sources.generated.ts";
import { exactSources, groupOf, lanesOfRow } from "./sources.ts";

// A launch of one group takes several levels that it fills at most this many times, while it has at most this many levels and rows: it stays
// below a tenth of a second.
const NARROW = 4;
const MAX_LEVELS = 1024;
const MAX_ROWS = 2 ** 14;

/** The levels of one launch, and its groups. */
interface Launch {
  readonly first: number;
  readonly last: number;
  readonly groups: number;
}

/** A triangle by levels on the device. */
export interface DeviceSystem {
  readonly unit: boolean;
  readonly width: number; // bytes of a number
  readonly parts: number; // lanes that share a row
  readonly launches: readonly Launch[];
  readonly starts: DeviceBuffer;
  readonly order: DeviceBuffer;
  readonly begins: DeviceBuffer;
  readonly columns: DeviceBuffer;
  readonly values: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
}

/** The values of a triangle, in the order of its lines. */
export interface Values {
  readonly values: Real;
  readonly diagonal: Real;
}

export function valuesByLevels(rows: RowsByLevels, from: Real, unit: boolean): Values {
  const { source, order, diagonalAt } = rows;
  const values = newVector("sptrsv", from, source.length);
  for (let e = 0; e < values.length; e++) values[e] = from[source[e] as number] as number;
  const diagonal = newVector("sptrsv", from, unit ? 0 : order.length);
  for (let k = 0; k < diagonal.length; k++) diagonal[k] = from[diagonalAt[order[k] as number] as number] as number;
  return { values, diagonal };
}

/** Copy a triangle to the device, into memory of this scope. */
export function deviceSystem(scope: Scope, rows: RowsByLevels, { values, diagonal }: Values, unit: boolean): DeviceSystem {
  const { starts, order, begins, columns } = rows;
  const group = groupOf(scope.device);
  const parts = lanesOfRow(columns.length, order.length, order.length, group);
  const copies = { starts, order, begins, columns, values, diagonal };
  const buffers = Object.fromEntries(Object.entries(copies).map(([name, array]) => [name, scope.copy(array)]));
  return {
    unit,
    width: values.BYTES_PER_ELEMENT,
    parts,
    launches: launchesOf(starts, group / parts),
    ...(buffers as Pick<DeviceSystem, keyof typeof copies>),
  };
}

// Wide levels one by one, narrow ones together.
function launchesOf(starts: Int32Array, rowsPerGroup: number): Launch[] {
  const launches: Launch[] = [];
  const levels = starts.length - 1;
  const size = (m: number): number => (starts[m + 1] as number) - (starts[m] as number);
  for (let first = 0; first < levels; ) {
    let last = first;
    let rows = 0;
    while (last < levels && last - first < MAX_LEVELS && rows + size(last) <= MAX_ROWS && size(last) <= NARROW * rowsPerGroup)
      rows += size(last++);
    if (last > first) launches.push({ first, last, groups: 1 });
    else launches.push({ first, last: ++last, groups: Math.ceil(size(first) / rowsPerGroup) });
    first = last;
  }
  return launches;
}

/** Start x := the solution for b. */
export function launchSolve(device: WebgpuDevice, system: DeviceSystem, b: DeviceBuffer, x: DeviceBuffer): void {
  const { unit, width, parts, launches, starts, order, begins, columns, values, diagonal } = system;
  const GROUP = groupOf(device);
  const kernel = device.kernel("solveLevels", [...exactSources(width), source], { GROUP, PARTS: parts });
  for (const { first, last, groups } of launches)
    device.launch(kernel, [groups], [GROUP], [starts, order, begins, columns, values, diagonal, b, x, first, last, Number(unit)]);
}
