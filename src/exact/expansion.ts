// Floating-point expansions, the exact stage of the papers, in the reference engine. Twins in the kernels: assembly/exact/expansion.ts and
// opencl/exact/expansion.cl.
import { twoSum } from "./transforms.ts";

/**
 * ExpansionAccumulate, Algorithm 3 of the triangular paper: adds x to the expansion a (2 to 8 components), from the head down, and
 * returns what did not fit, 0 if all did. The sum of the components and the return value is exact. With early exit the loop ends as
 * soon as nothing is left to pass on.
 */
export function expansionAccumulate(a: Float64Array, x: number, earlyExit = true): number {
  let rest = x;
  for (let i = 0; i < a.length; i++) {
    const component = a[i] as number;
    const s = component + rest;
    rest = twoSum(component, rest, s);
    a[i] = s;
    if (earlyExit && rest === 0) return 0;
  }
  return rest;
}
