// One operand of the part "Try": a text to type or paste, or a file, dropped or chosen.
import { fill, h } from "../page/dom.ts";
import type { OperandSpec, Source } from "./operations.ts";

const FILES = ".csv,.tsv,.npy,.mtx,.txt";
const MAX_TEXT = 2 ** 20; // characters that a text field shows without stalling; more become a file

export class OperandField {
  readonly name: string;
  readonly element: HTMLElement;
  private readonly text: HTMLTextAreaElement;
  private readonly chip = h("div", { class: "file" });
  private readonly status = h("span", { class: "read" });
  private file: File | undefined;

  constructor(
    spec: OperandSpec,
    private readonly changed: () => void,
  ) {
    this.name = spec.name;
    const hint = `hint-${spec.name}`;
    const isMatrix = spec.shape === "matrix" || spec.shape === "sparse";
    this.text = h("textarea", {
      id: `operand-${spec.name}`,
      rows: isMatrix ? 6 : 3,
      spellcheck: false,
      autocomplete: "off",
      wrap: isMatrix ? "off" : "soft",
      aria: { describedby: hint },
    });
    this.text.addEventListener("input", () => this.typed());
    const input = h("input", { type: "file", accept: FILES, class: "away", tabIndex: -1, aria: { label: `A file for ${spec.name}` } });
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      input.value = "";
      if (file) this.take(file);
    });
    const browse = h("button", { type: "button", class: "quiet" }, "File…");
    browse.addEventListener("click", () => input.click());
    this.element = h(
      "div",
      { class: "operand" },
      h("div", { class: "operand-head" }, h("label", { htmlFor: this.text.id }, spec.name), this.status, browse, input),
      this.text,
      this.chip,
      h("p", { class: "hint", id: hint }, `${spec.hint}, or drop .csv, .npy or .mtx`),
    );
    this.chip.hidden = true;
    for (const kind of ["dragenter", "dragover"] as const)
      this.element.addEventListener(kind, (event) => {
        event.preventDefault();
        this.element.classList.add("over");
      });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("over"));
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.element.classList.remove("over");
      const file = event.dataTransfer?.files[0];
      const text = event.dataTransfer?.getData("text/plain") ?? "";
      if (file) this.take(file);
      else if (text !== "") {
        this.set(text);
        this.changed();
      }
    });
  }

  get source(): Source {
    return this.file ?? this.text.value;
  }

  isEmpty(): boolean {
    return this.file === undefined && this.text.value.trim() === "";
  }

  /** What the user dropped or chose. */
  take(file: File): void {
    this.set(file);
    this.changed();
  }

  set(source: Source): void {
    this.say("");
    this.file = typeof source === "string" ? undefined : source;
    if (typeof source === "string") this.text.value = source;
    this.text.hidden = this.file !== undefined;
    this.chip.hidden = this.file === undefined;
    if (this.file === undefined) return;
    const remove = h("button", { type: "button", class: "quiet", aria: { label: `Remove ${this.file.name}` } }, "Remove");
    remove.addEventListener("click", () => {
      this.set("");
      this.changed();
      this.text.focus();
    });
    fill(this.chip, h("span", {}, this.file.name), remove);
  }

  /** What was read from it. */
  say(text: string): void {
    fill(this.status, text);
  }

  /** The words of the text; none for a file. */
  numbers(): string[] {
    return this.file ? [] : this.text.value.split(/[\s,;]+/).filter((word) => word !== "");
  }

  permute(order: Int32Array): void {
    const words = this.numbers();
    if (words.length === order.length) this.text.value = Array.from(order, (i) => words[i]).join(", ");
  }

  private typed(): void {
    this.say("");
    if (this.text.value.length > MAX_TEXT) this.set(new File([this.text.value], "pasted.txt", { type: "text/plain" }));
    this.changed();
  }
}
