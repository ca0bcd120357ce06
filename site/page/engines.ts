// The engines of this browser: the choice that all views offer.
import { Client } from "./client.ts";
import { fill, h } from "./dom.ts";

export interface EngineInfo {
  readonly kind: string;
  readonly available: boolean;
  readonly device?: string;
  readonly reason?: string;
}

const NAMES: Record<string, string> = { wasm: "Wasm, one thread", threads: "Wasm, threads", webgpu: "WebGPU", opencl: "OpenCL" };

/** What people call a kind of engine. */
export const nameOf = (kind: string): string => NAMES[kind] ?? kind;

let listed: Promise<readonly EngineInfo[]> | undefined;

/** All engines of the table, with the reason where one is missing. Asked once. */
export function enginesHere(client = new Client()): Promise<readonly EngineInfo[]> {
  listed ??= client.call("engines", undefined);
  listed.catch(() => {
    listed = undefined;
  });
  return listed;
}

// The list needs the whole library, and the engine on WebGPU: it is fetched when somebody uses the page.
const used = new Promise<void>((resolve) => {
  for (const kind of ["pointermove", "pointerdown", "keydown"]) addEventListener(kind, () => resolve(), { once: true, passive: true });
});

/** A field to choose an engine, and a line on those that are missing. It lists the engines when they are known. */
export function engineField(
  client: Client,
  chosen: string,
  onChange: (kind: string) => void,
): { field: HTMLElement; select: HTMLSelectElement; missing: HTMLElement } {
  const select = h("select", {}, h("option", { value: "wasm", selected: true }, nameOf("wasm")));
  const missing = h("div", { class: "hint" });
  select.addEventListener("change", () => onChange(select.value));
  const wait = chosen === "" || chosen === "wasm" ? used : Promise.resolve();
  wait
    .then(() => enginesHere(client))
    .then(
      (engines) => {
        const current = select.value;
        fill(
          select,
          ...engines
            .filter(({ available }) => available)
            .map(({ kind, device = "" }) =>
              h("option", { value: kind }, kind === "threads" ? `Wasm, ${device.split(",")[0]}` : nameOf(kind)),
            ),
        );
        const wanted = chosen === "" ? current : chosen;
        select.value = engines.some(({ kind, available }) => available && kind === wanted) ? wanted : "wasm";
        if (select.value !== current) onChange(select.value);
        const reasons = engines.filter(({ kind, available }) => !available && kind !== "opencl");
        fill(missing, ...reasons.map(({ kind, reason }) => h("p", {}, `${nameOf(kind)}: ${reason}`)));
      },
      () => {}, // the first computation reports it
    );
  return { field: h("label", { class: "field" }, h("span", {}, "Engine"), select), select, missing };
}
