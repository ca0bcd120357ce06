// Numbers and tables for a terminal of any width: no colours, no frames, columns separated by spaces.

/** Print rows under a heading: the first column aligned left, the others right. */
export function printTable(heading, rows) {
  const all = [heading, ...rows].map((row) => row.map((cell) => cell ?? ""));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  for (const row of all) {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])));
    console.log(`  ${cells.join("  ")}`.trimEnd());
  }
}

/** Three significant digits, without an exponent. */
export function figure(value) {
  if (value === undefined) return undefined;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(digits);
}

/** 16,000,000 */
export function count(n) {
  return n.toLocaleString("en-US");
}

/** JSON with four significant digits, which is more than a timing has and keeps result files small. */
export function json(value) {
  const rounded = (_key, v) => (typeof v === "number" && !Number.isInteger(v) ? Number(v.toPrecision(4)) : v);
  const text = JSON.stringify(value, rounded, 2);
  return `${text.replace(/\[[-\d\s.,e+]*\]/g, (numbers) => numbers.replace(/\s+/g, " "))}\n`;
}

/** Each innermost object on a line of its own. */
export function compact(text) {
  return text.replace(/\{[^{}]*\}/g, (object) => object.replace(/\s+/g, " "));
}

/** a / b where both were measured. */
export function ratio(a, b) {
  return a === undefined || b === undefined ? undefined : a / b;
}
