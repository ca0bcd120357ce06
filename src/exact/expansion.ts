import { twoSum } from "./transforms.ts";

/**
 * ExpansionAccumulate, Algorithm 3 of the triangular paper: add x to the expansion a (2 to 8 components),
 * from the head down, and return what did not fit, 0 if all did. The sum of the components and the return
 * value is exact. With early exit the walk ends as soon as nothing is left to pass on.
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
