// Suggests a command for a misspelled one. Called by run.ts.

/** The word with the smallest edit distance to a misspelled one, if that distance is small. */
export function nearest(written: string, words: readonly string[]): string | undefined {
  const edits = (word: string): number => distance(written, word);
  const [best] = [...words].sort((a, b) => edits(a) - edits(b));
  return best !== undefined && edits(best) <= Math.min(2, best.length / 2) ? best : undefined;
}

// The Levenshtein distance, row by row.
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
