// Makes the examples of a page of the documentation run: what they print appears below what the documentation says.
import { Client, Stopped } from "../page/client.ts";
import { fill, h } from "../page/dom.ts";

const client = new Client();

// Lines are broken as the runtime likes.
const words = (text: string): string => text.trim().split(/\s+/).join(" ");

/** Adds a button to every example that can run in a browser. */
export function addRunButtons(article: Element): void {
  for (const code of article.querySelectorAll<HTMLElement>("pre[data-run]")) {
    const documented = code.nextElementSibling as HTMLElement;
    const button = h("button", { type: "button", class: "run" }, "Run");
    const output = h("pre", { class: "output", tabIndex: 0 });
    const status = h("p", { class: "status", aria: { role: "status" } });
    const below = h("div", {}, output, status);
    below.hidden = true;
    let running = false;
    button.addEventListener("click", async () => {
      if (running) {
        client.stop();
        return;
      }
      running = true;
      below.hidden = false;
      fill(button, "Stop");
      fill(output);
      fill(status, "Running…");
      try {
        await client.call("run", code.textContent ?? "", (line) => output.append(`${line}\n`));
        const same = words(output.textContent ?? "") === words(documented.textContent ?? "");
        status.className = same ? "status good" : "status";
        fill(status, same ? "✓ This browser prints what the documentation says." : "This is what this browser prints.");
      } catch (error) {
        status.className = "status";
        fill(status, error instanceof Stopped ? "Stopped." : `It could not run: ${(error as Error).message}`);
      }
      running = false;
      fill(button, "Run again");
    });
    const example = h("div", { class: "example" });
    code.before(example);
    example.append(code, button, documented, below);
  }
}
