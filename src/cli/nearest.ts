/** The word that somebody meant who wrote another: the one with the fewest slips in between, if they are few. */
export function nearest(written: string, words: readonly string[]): string | undefined {
  const slips = (word: string): number => distance(written, word);
  const [best] = [...words].sort((a, b) => slips(a) - slips(b));
  return best !== undefined && slips(best) <= Math.min(2, best.length / 2) ? best : undefined;
}

// Letters to insert, leave out or replace (Levenshtein), row by row.
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a.slice(0, 40)].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((next[j] as number) + 1, (row[j + 1] as number) + 1, (row[j] as number) + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length] as number;
}
