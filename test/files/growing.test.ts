// The growing list behind the readers of files: what it holds, and how much it allocates.
import { expect, test } from "vitest";
import { Growing } from "../../src/files/growing.ts";

test.each([0, 1, 255, 256, 257, 513, 65_535, 65_536, 65_537, 200_001])("a list of %i numbers holds them, and little more", (n) => {
  for (const max of [n, Number.POSITIVE_INFINITY]) {
    const allocated: number[] = [];
    const list = new Growing(max, (length) => {
      allocated.push(length);
      return new Float64Array(length);
    });
    for (let k = 0; k < n; k++) list.push(3 * k);
    expect(list.length).toBe(n);
    for (let k = 0; k < n; k++) if (list.get(k) !== 3 * k) throw new Error(`entry ${k} is ${list.get(k)}`);
    expect(Math.max(...allocated)).toBeLessThanOrEqual(Math.min(max, Math.max(256, 2 * n), 65_536));
  }
});
