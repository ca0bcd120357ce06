// The part "Try": choose an operation, type, paste or drop numbers, and see ordinary arithmetic beside the exact result.
import type { View } from "../main.ts";
import { Client, Stopped } from "../page/client.ts";
import { copy, fill, h } from "../page/dom.ts";
import { engineField } from "../page/engines.ts";
import { type Route, replaceRoute } from "../page/route.ts";
import { OperandField } from "./operandField.ts";
import { EXAMPLES, OPERATIONS, type Operation, type Source } from "./operations.ts";
import { drawResult } from "./result.ts";
import { defaultMethod, parametersOf, type State, stateOf } from "./state.ts";

const FIRST = "lost";
const PAUSE = 250; // milliseconds after the last key
const IMPATIENT = 400; // a computation that has taken longer is ended by the next

export function view(): View {
  const client = new Client();
  let state: State = { operation: "sum", method: "", engine: "wasm", example: FIRST, texts: {} };
  let fields: OperandField[] = [];
  const left = new Map<Operation, { state: State; files: Record<string, File> }>(); // operations that were shown before
  let written = ""; // the address that this view wrote last
  let run = 0;
  let begun = 0; // when the computation that is running began; 0 if none is
  let timer: ReturnType<typeof setTimeout> | undefined;

  const operations = h("div", { class: "choices", aria: { role: "group", label: "Operation" } });
  const examples = h("div", { class: "chips" });
  const story = h("p", { class: "story" });
  const inputs = h("div", { class: "inputs" });
  const options = h("div", { class: "options" });
  const linkNote = h("p", { class: "hint", aria: { role: "status" } });
  const result = h("section", { class: "result", aria: { label: "Result" } });
  const link = h("button", { type: "button" }, "Copy link");
  const shuffle = h("button", { type: "button" }, "Shuffle");
  const engine = engineField(client, (kind) => {
    state = { ...state, engine: kind };
    changed(0);
  });
  const method = h("select");
  const methodField = h("label", { class: "field" }, h("span", {}, "Solve with"), method);
  options.append(engine.field, methodField, h("div", { class: "buttons" }, shuffle, link));

  link.addEventListener("click", () => copy(link, location.href, linkNote));
  shuffle.addEventListener("click", () => {
    const order = shuffledOrder(fields[0]?.numbers().length ?? 0);
    for (const field of fields) field.permute(order);
    edited();
  });
  method.addEventListener("change", () => {
    state = { ...state, method: method.value };
    changed(0);
  });
  const element = h(
    "div",
    { class: "try" },
    h(
      "header",
      { class: "hero" },
      h("h1", {}, "Right to the last bit."),
      h(
        "p",
        { class: "lead" },
        "Computers round after every step. halfulp computes exactly and rounds once: the right answer, and the same bits on every machine.",
      ),
    ),
    operations,
    h(
      "div",
      { class: "desk" },
      h("div", { class: "given" }, examples, story, inputs),
      result,
      h("div", { class: "settings" }, options, linkNote, engine.missing),
    ),
  );

  // A file that misses its field must not replace the page.
  for (const kind of ["dragover", "drop"] as const) element.addEventListener(kind, (event) => event.preventDefault());
  element.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (file) (fields.find((field) => field.isEmpty()) ?? fields[0])?.take(file);
  });

  function texts(): Record<string, string> {
    return Object.fromEntries(fields.map((field) => [field.name, typeof field.source === "string" ? field.source : ""]));
  }
  const files = (): Record<string, File> =>
    Object.fromEntries(fields.flatMap(({ name, source }) => (typeof source === "string" ? [] : [[name, source]])));

  function edited(): void {
    state = { ...state, example: undefined, texts: texts() };
    drawExamples();
    changed(PAUSE);
  }

  function changed(pause: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void address();
      void compute();
    }, pause);
  }

  async function address(): Promise<void> {
    const hasFiles = Object.keys(files()).length > 0;
    const parameters = hasFiles ? undefined : await parametersOf({ ...state, texts: texts() });
    fill(
      linkNote,
      hasFiles
        ? "A link cannot hold the numbers of a file: they stay on this machine."
        : parameters === undefined && "The numbers are too many for a link.",
    );
    link.disabled = parameters === undefined;
    const shown = parameters ?? new URLSearchParams({ op: state.operation });
    if (!element.isConnected) return;
    written = shown.toString();
    replaceRoute("try", shown);
  }

  async function compute(): Promise<void> {
    const id = ++run;
    if (begun !== 0 && performance.now() - begun > IMPATIENT) client.stop();
    const operands: Record<string, Source> = Object.fromEntries(fields.map(({ name, source }) => [name, source]));
    if (fields.some((field) => field.isEmpty())) {
      const empty = fields.filter((field) => field.isEmpty()).map(({ name }) => name);
      fill(result, h("p", { class: "empty" }, `Type or paste ${empty.join(" and ")}, drop a file, or choose an example.`));
      return;
    }
    begun = performance.now();
    const stop = h("button", { type: "button" }, "Stop");
    stop.addEventListener("click", () => client.stop());
    const waiting = setTimeout(() => {
      if (id === run) fill(result, h("p", { class: "waiting", aria: { role: "status" } }, "Computing… ", stop));
    }, 300);
    try {
      const { operation, engine: kind } = state;
      const answer = await client.call("compute", { operation, operands, method: method.value, engine: kind });
      if (id !== run) return;
      for (const field of fields) field.say(answer.read[field.name] ?? "");
      fill(result, ...drawResult(answer, client));
    } catch (error) {
      if (id !== run) return;
      const message = error instanceof Stopped ? "Stopped." : sentence((error as Error).message);
      fill(result, h("p", { class: error instanceof Stopped ? "empty" : "error", aria: { role: "alert" } }, message));
    } finally {
      clearTimeout(waiting);
      if (id === run) begun = 0;
    }
  }

  function drawOperations(): void {
    if (operations.childElementCount === 0)
      for (const [name, { title }] of Object.entries(OPERATIONS)) {
        const button = h("button", { type: "button", data: { operation: name } }, title);
        button.addEventListener("click", () => choose(name as Operation));
        operations.append(button);
      }
    for (const button of operations.children)
      button.setAttribute("aria-pressed", String((button as HTMLElement).dataset.operation === state.operation));
  }

  function drawExamples(): void {
    const own = Object.entries(EXAMPLES).filter(([, { operation }]) => operation === state.operation);
    fill(
      examples,
      h("span", { class: "hint" }, "Examples"),
      ...own.map(([name, { title }]) => {
        const button = h("button", { type: "button", class: "chip", aria: { pressed: String(state.example === name) } }, title);
        button.addEventListener("click", () => load({ ...state, example: name, method: EXAMPLES[name]?.method ?? "", texts: {} }));
        return button;
      }),
    );
    fill(story, state.example === undefined ? OPERATIONS[state.operation].formula : (EXAMPLES[state.example]?.story ?? ""));
  }

  function choose(operation: Operation): void {
    if (operation === state.operation) return;
    left.set(state.operation, { state: { ...state, texts: texts() }, files: files() });
    const before = left.get(operation);
    const first = Object.keys(EXAMPLES).find((name) => EXAMPLES[name]?.operation === operation);
    const next = before?.state ?? { ...state, operation, method: EXAMPLES[first ?? ""]?.method ?? "", example: first, texts: {} };
    void load({ ...next, engine: state.engine }, before?.files);
  }

  // Shows a state: its fields, its numbers, its result.
  async function load(next: State, dropped: Readonly<Record<string, File>> = {}): Promise<void> {
    const id = ++run;
    const { operands, methods = [] } = OPERATIONS[next.operation];
    if (next.operation !== state.operation || fields.length === 0) {
      fields = operands.map((spec) => new OperandField(spec, edited));
      fill(inputs, ...fields.map((field) => field.element));
    }
    state = next;
    drawOperations();
    drawExamples();
    fill(method, ...methods.map(([value, title]) => h("option", { value }, title)));
    method.value = next.method === "" ? defaultMethod(next.operation) : next.method;
    state = { ...state, method: method.value };
    const kind = await engine.choose(next.engine);
    if (id !== run) return; // another one was chosen meanwhile
    state = { ...state, engine: kind };
    methodField.hidden = methods.length === 0;
    shuffle.hidden = operands.some(({ shape }) => shape !== "vector");
    let numbers = next.texts;
    if (next.example !== undefined)
      try {
        numbers = await client.call("example", next.example);
      } catch (error) {
        if (id === run) fill(result, h("p", { class: "error" }, sentence((error as Error).message)));
        return;
      }
    if (id !== run) return;
    for (const field of fields) field.set(dropped[field.name] ?? numbers[field.name] ?? "");
    changed(0);
  }

  async function show({ parameters }: Route): Promise<void> {
    if (fields.length > 0 && (parameters.size === 0 || parameters.toString() === written)) return void address();
    await load(parameters.size === 0 ? state : await stateOf(parameters));
  }

  return { title: "Try", element, show: (route) => void show(route) };
}

const sentence = (message: string): string => (message.endsWith(".") ? message : `${message}.`);

// A random order, from the browser's generator: every press is to give another.
function shuffledOrder(n: number): Int32Array {
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const k = Math.floor(Math.random() * (i + 1));
    const other = order[i] as number;
    order[i] = order[k] as number;
    order[k] = other;
  }
  return order;
}
