// How a record of a table is divided into fields: at a delimiter, as in RFC 4180, or at white space, as numpy.savetxt writes and
// numpy.loadtxt reads. As in Python's csv module, a quote opens a quoted field only as the first character of the field; anywhere else it is
// text, such as the inches of 5" pipe. records.ts and csv.ts use it.

/** A way to divide records into fields. */
export interface Dialect {
  /** All fields of a record. A field is without its quotes. */
  fields(text: string): string[];
  /** The first line, if it holds names. */
  nameLine(line: string): string;
  /** The field in this column, from 0; undefined unless the record has `count` fields. */
  field(text: string, column: number, count: number): string | undefined;
  /** What is between fields; empty if it is white space. */
  readonly delimiter: string;
  /** Whether a quoted field is open at the end of a line; `open` says whether one is open at its start. */
  endsOpen(line: string, open: boolean): boolean;
  /** Whether a line is no record. */
  isBlank(line: string): boolean;
  /** Whether a blank line in a file with one column is a row with an empty cell. */
  readonly hasEmptyCells: boolean;
  /** Whether a record has a carriage return that is not part of a quoted field. */
  hasReturn(text: string): boolean;
}

/** Fields between delimiters, which may be quoted. Lines without quotes, nearly all in a file of numbers, are split by searching. */
export function delimited(delimiter: string): Dialect {
  // The raw fields, quotes included; undefined if the last field is quoted and not closed.
  const rawFields = (text: string): string[] | undefined => {
    const parts: string[] = [];
    for (let from = 0; ; ) {
      const quotes = text[from] === '"' ? afterQuoted(text, from + 1) : from;
      if (quotes < 0) return undefined;
      const to = text.indexOf(delimiter, quotes);
      parts.push(to < 0 ? text.slice(from) : text.slice(from, to));
      if (to < 0) return parts;
      from = to + delimiter.length;
    }
  };
  const fields = (text: string): string[] => (rawFields(text) as string[]).map(unquoted);
  return {
    fields,
    nameLine: (line) => line,
    delimiter,
    field(text, column, count) {
      if (text.includes('"')) {
        const all = fields(text);
        return all.length === count ? all[column] : undefined;
      }
      let found: string | undefined;
      for (let from = 0, k = 1; ; k++) {
        const to = text.indexOf(delimiter, from);
        if (k > column && found === undefined) found = to < 0 ? text.slice(from) : text.slice(from, to);
        if (to < 0) return k === count ? found : undefined;
        from = to + delimiter.length;
      }
    },
    // An open line is split as if it began with the opening quote.
    endsOpen: (line, open) => (open || line.includes('"')) && rawFields(open ? `"${line}` : line) === undefined,
    isBlank: (line) => line.trim() === "" && !line.includes(delimiter), // a tab is white space, but may be the delimiter
    hasEmptyCells: true,
    hasReturn: (text) => (rawFields(text) as string[]).some((field) => field.slice(quotedLength(field)).includes("\r")),
  };
}

// The index after the quote that closes a field, searched from `from` on; -1 if there is none. A doubled quote is text.
function afterQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? -1 : at + 1;
}

const quotedLength = (field: string): number => (field.startsWith('"') ? afterQuoted(field, 1) : 0);

// Text after the closing quote makes the field invalid as a number: "1"2 must not be read as 12. The message shows it unchanged.
function unquoted(field: string): string {
  const length = quotedLength(field);
  return length === 0 || field.slice(length).trim() !== "" ? field : field.slice(1, length - 1).replaceAll('""', '"');
}

// Without the comment that a # begins.
const uncommented = (line: string): string => {
  const at = line.indexOf("#");
  return at < 0 ? line : line.slice(0, at);
};
const words = (text: string): string[] => uncommented(text).match(/\S+/g) ?? [];

/** Fields between runs of white space; a # begins a comment. */
export const WHITESPACE: Dialect = {
  fields: words,
  nameLine: (line) => line.replace(/^\s*#/, ""), // numpy.savetxt writes its header as a comment
  delimiter: "",
  field(text, column, count) {
    const all = words(text);
    return all.length === count ? all[column] : undefined;
  },
  endsOpen: () => false,
  isBlank: (line) => uncommented(line).trim() === "",
  hasEmptyCells: false,
  hasReturn: (text) => text.includes("\r"),
};
