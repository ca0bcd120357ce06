// Whether rivals computed the same: undefined, or the words that say where they did not. Those that did not run have no part.

/** These should agree to the bit. */
export function differentBits(outcomes) {
  return different(outcomes, () => (a, b) => Object.is(a, b));
}

/** These should agree to this part of the largest entry. */
export function farApart(outcomes, part = 1e-8) {
  return different(outcomes, (result) => {
    const size = result.reduce((largest, v) => Math.max(largest, Math.abs(v)), 0);
    return (a, b) => Math.abs(a - b) <= part * size;
  });
}

function different(outcomes, sameAs) {
  const [first, ...others] = outcomes.filter(({ result }) => result !== undefined);
  for (const { name, result } of others) {
    const same = sameAs(first.result);
    const index = first.result.findIndex((v, i) => !same(v, result[i]));
    if (index >= 0) return `${first.name} returns ${first.result[index]}, ${name} returns ${result[index]} (entry ${index})`;
  }
  return undefined;
}
