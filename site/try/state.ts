// The state of the part "Try" in the address: the operation, and an example by its name or the numbers as text. Long texts are compressed.
import { EXAMPLES, isOperation, OPERATIONS, type Operation } from "./operations.ts";

export interface State {
  readonly operation: Operation;
  readonly method: string;
  readonly engine: string;
  /** The name of an example whose numbers nobody has changed. */
  readonly example: string | undefined;
  readonly texts: Readonly<Record<string, string>>;
}

const PLAIN = 1500; // characters that stay readable in the address
const MAX = 24_000; // what programs take as an address, with room

/** The parameters for a state; undefined if the numbers are too many for an address. */
export async function parametersOf({ operation, method, engine, example, texts }: State): Promise<URLSearchParams | undefined> {
  const parameters = new URLSearchParams({ op: operation });
  if (OPERATIONS[operation].methods && method !== defaultMethod(operation)) parameters.set("by", method);
  if (engine !== "wasm") parameters.set("engine", engine);
  if (example !== undefined) {
    parameters.set("example", example);
    return parameters;
  }
  const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  if (length <= PLAIN) for (const [name, text] of Object.entries(texts)) parameters.set(name, text);
  else {
    const packed = length > 100 * MAX ? undefined : await deflated(JSON.stringify(texts));
    if (packed === undefined || packed.length > MAX) return undefined;
    parameters.set("z", packed);
  }
  return parameters;
}

/** The state that an address asks for. Whatever does not make sense in it is left out. */
export async function stateOf(parameters: URLSearchParams): Promise<State> {
  const name = parameters.get("example") ?? "";
  const example = Object.hasOwn(EXAMPLES, name) ? name : undefined;
  const word = example === undefined ? (parameters.get("op") ?? "") : (EXAMPLES[example]?.operation ?? "");
  const operation = isOperation(word) ? word : "sum";
  const by = parameters.get("by") ?? EXAMPLES[example ?? ""]?.method ?? "";
  const method = OPERATIONS[operation].methods?.some(([each]) => each === by) ? by : defaultMethod(operation);
  const texts: Record<string, string> = {};
  const unpacked = await inflated(parameters.get("z") ?? "");
  for (const { name: operand } of OPERATIONS[operation].operands) {
    const text = unpacked[operand] ?? parameters.get(operand) ?? "";
    if (typeof text === "string") texts[operand] = text;
  }
  return { operation, method, engine: parameters.get("engine") ?? "wasm", example, texts };
}

export const defaultMethod = (operation: Operation): string => OPERATIONS[operation].methods?.[0]?.[0] ?? "";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const result = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(result).arrayBuffer());
}

async function deflated(text: string): Promise<string | undefined> {
  if (typeof CompressionStream === "undefined") return undefined;
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// Anybody can write an address: what cannot be read is empty.
async function inflated(packed: string): Promise<Record<string, unknown>> {
  if (packed === "" || packed.length > 4 * MAX) return {};
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
