// Elements in one expression. All views are written with it.

type Child = Node | string | false | undefined;
type Properties<T extends HTMLElement> = Partial<Omit<T, "style" | "dataset" | "classList">> & {
  class?: string;
  aria?: Record<string, string>;
  data?: Record<string, string>;
};

/** An element with these properties and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  const { class: className, aria = {}, data = {}, ...rest } = properties as Properties<HTMLElement>;
  if (className !== undefined) element.className = className;
  for (const [key, value] of Object.entries(aria)) element.setAttribute(key === "role" ? key : `aria-${key}`, value);
  for (const [key, value] of Object.entries(data)) element.dataset[key] = value;
  Object.assign(element, rest);
  element.append(...children.filter((child): child is Node | string => child !== false && child !== undefined));
  return element;
}

/** Replaces what an element contains. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => child !== false && child !== undefined));
}

/** Copies text to the clipboard, and says so on the button. Where the browser refuses, the text is selected instead. */
export async function copy(button: HTMLButtonElement, text: string, shown?: HTMLElement): Promise<void> {
  const label = button.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    button.textContent = shown ? "Selected: copy it" : "Not allowed here";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 1600);
}

/** A duration for people. */
export function duration(milliseconds: number): string {
  const [value, unit] =
    milliseconds < 1e-3
      ? [milliseconds * 1e6, "ns"]
      : milliseconds < 1
        ? [milliseconds * 1e3, "µs"]
        : milliseconds < 1000
          ? [milliseconds, "ms"]
          : [milliseconds / 1000, "s"];
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(2)} ${unit}`;
}

/** A count with thin spaces between groups of three digits. */
export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, "\u2009");
