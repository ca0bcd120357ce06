// Whether rivals computed the same result. Results are numbers or arrays; rivals that failed have none and are skipped.

/** Where these differ in any bit, in words; undefined if they agree. */
export function differentBits(outcomes) {
  return difference(outcomes, () => Object.is);
}

/** Where these differ by more than `part` of the largest entry, in words; undefined if they agree. */
export function farApart(outcomes, part = 1e-8) {
  return difference(outcomes, (result) => {
    const size = result.reduce((largest, v) => Math.max(largest, Math.abs(v)), 0);
    return (a, b) => Math.abs(a - b) <= part * size;
  });
}

/** Throw if one of these checks finds a difference. */
export function expectSame(what, words) {
  if (words !== undefined) throw new Error(`${what}: ${words}`);
}

function difference(outcomes, sameAs) {
  const [first, ...others] = outcomes
    .filter(({ result }) => result !== undefined)
    .map(({ name, result }) => ({ name, result: typeof result === "number" ? [result] : result }));
  if (first === undefined) return undefined;
  const same = sameAs(first.result);
  for (const { name, result } of others) {
    const index = first.result.findIndex((v, i) => !same(v, result[i]));
    if (index >= 0) return `${first.name} returns ${first.result[index]}, ${name} returns ${result[index]} (entry ${index})`;
  }
  return undefined;
}
