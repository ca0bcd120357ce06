// Values as console.log of Node prints them, on one line: for the examples of the documentation.

const MAX_ELEMENTS = 100;
const MAX_DEPTH = 2;

/** The arguments of console.log as a line. */
export const logged = (values: readonly unknown[]): string =>
  values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ");

function inspect(value: unknown, depth = 0): string {
  switch (typeof value) {
    case "string":
      return `'${value.replaceAll("'", "\\'")}'`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return `[Function: ${value.name}]`;
    case "object":
      return value === null ? "null" : inspectObject(value, depth);
    default:
      return String(value);
  }
}

function inspectObject(value: object, depth: number): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const name = value.constructor?.name ?? "";
  if (depth > MAX_DEPTH) return Array.isArray(value) ? "[Array]" : `[${name === "" ? "Object" : name}]`;
  if (Array.isArray(value)) return list(value, depth);
  if (ArrayBuffer.isView(value) && "length" in value) {
    const elements = value as unknown as ArrayLike<unknown>;
    return `${name}(${elements.length}) ${list(elements, depth)}`;
  }
  const fields = Object.entries(value).map(
    ([key, field]) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : `'${key}'`}: ${inspect(field, depth + 1)}`,
  );
  const body = fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  return name === "Object" || name === "" ? body : `${name} ${body}`;
}

function list(elements: ArrayLike<unknown>, depth: number): string {
  const count = Math.min(elements.length, MAX_ELEMENTS);
  const words = Array.from({ length: count }, (_, k) => inspect(elements[k], depth + 1));
  const more = elements.length - count;
  if (more > 0) words.push(`... ${more} more item${more === 1 ? "" : "s"}`);
  return words.length === 0 ? "[]" : `[ ${words.join(", ")} ]`;
}
