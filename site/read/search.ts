// The search of the documentation: sections that have all words of a query, those with the words in their title first.
import { sections } from "virtual:documents/search";

export interface Found {
  readonly page: string;
  readonly anchor: string;
  readonly title: string;
  /** Text around the first word. */
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

const AROUND = 70; // characters before and after a match
const MAX = 20;

/** The best sections for a query, at most 20. */
export function search(query: string): Found[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return [];
  return sections
    .flatMap(({ page, anchor, title, text }) => {
      const [head, body] = [title.toLowerCase(), text.toLowerCase()];
      let score = 0;
      for (const word of words) {
        const inBody = count(body, word);
        if (!head.includes(word) && inBody === 0) return [];
        // A whole word in a title counts most; long sections do not win by their length.
        score += (head.includes(word) ? 20 : 0) + (head.split(/\W+/).includes(word) ? 20 : 0) + (10 * inBody) / (20 + body.length / 100);
      }
      const at = Math.max(0, body.indexOf(words[0] as string));
      const length = body.startsWith(words[0] as string, at) ? (words[0] as string).length : 0;
      const from = Math.max(0, at - AROUND);
      const found: Found = {
        page,
        anchor,
        title,
        before: `${from > 0 ? "…" : ""}${text.slice(from, at)}`,
        match: text.slice(at, at + length),
        after: text.slice(at + length, at + length + AROUND),
      };
      return [{ found, score }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX)
    .map(({ found }) => found);
}

function count(text: string, word: string): number {
  let n = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) n++;
  return n;
}
