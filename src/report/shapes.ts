// Validation of JSON: a shape returns the known part of a value, or throws with the path of the first error. Files come from other
// machines and other people, so nothing in them is trusted. Called by read.ts.
import { FormatError } from "../arrays/errors.ts";

export type Shape<T> = (value: unknown, place: string) => T;
export type Of<S> = S extends Shape<infer T> ? T : never;

export function refuse(value: unknown, place: string, expected: string): never {
  throw new FormatError(`${place} is ${named(value)}, expected ${expected}`);
}

// A value on one line; a long text is cut.
function named(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const words = JSON.stringify(value) ?? String(value);
  return words.length > 40 ? `${words.slice(0, 40)}…` : words;
}

const finite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

export const number: Shape<number> = (value, place) => (finite(value) ? value : refuse(value, place, "a finite number"));

export const boolean: Shape<boolean> = (value, place) => (typeof value === "boolean" ? value : refuse(value, place, "true or false"));

export const positive: Shape<number> = (value, place) => (finite(value) && value > 0 ? value : refuse(value, place, "a positive number"));

/** Sizes and counts. */
export const count: Shape<number> = (value, place) =>
  finite(value) && Number.isInteger(value) && value >= 0 ? value : refuse(value, place, "an integer of at least 0");

// Longer than any name or reason; longer texts would only make the page hard to read.
const MAX_TEXT = 2000;

export const text: Shape<string> = (value, place) =>
  typeof value === "string" && value.length <= MAX_TEXT
    ? value
    : refuse(value, place, typeof value === "string" ? `a text of at most ${MAX_TEXT} characters` : "a text");

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value, place) => (value === null ? null : shape(value, place));
}

/** A field that may be missing. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, place) => (value === undefined ? undefined : shape(value, place));
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value, place) => (Array.isArray(value) ? value.map((one, i) => shape(one, `${place}[${i}]`)) : refuse(value, place, "a list"));
}

/** An object with arbitrary names, whose values have this shape. */
export function dictionary<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value, place) => {
    const entries = Object.entries(fieldsOf(value, place));
    return Object.fromEntries(
      entries.map(([name, one]) => [text(name, `a name in ${place}`), shape(one, `${place}.${name.slice(0, 40)}`)]),
    );
  };
}

type Fields = Record<string, Shape<unknown>>;
type Optional<F extends Fields> = { [K in keyof F]: undefined extends Of<F[K]> ? K : never }[keyof F];
export type Record_<F extends Fields> = { [K in Exclude<keyof F, Optional<F>>]: Of<F[K]> } & {
  [K in Optional<F>]?: Exclude<Of<F[K]>, undefined>;
};

/** An object with these fields; others are ignored. */
export function fields<F extends Fields>(shapes: F): Shape<Record_<F>> {
  return (value, place) => {
    const given = fieldsOf(value, place);
    const known: Record<string, unknown> = {};
    for (const [name, shape] of Object.entries(shapes)) {
      const one = shape(Object.hasOwn(given, name) ? given[name] : undefined, place === "" ? name : `${place}.${name}`);
      if (one !== undefined) known[name] = one;
    }
    return known as Record_<F>;
  };
}

function fieldsOf(value: unknown, place: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(value, place === "" ? "the file" : place, "an object");
  return value as Record<string, unknown>;
}
