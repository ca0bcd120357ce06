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

/** The engine that every browser has. */
const ONE_THREAD = "wasm";

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

export interface EngineField {
  readonly field: HTMLElement;
  /** Engines that are missing, with the reason. */
  readonly missing: HTMLElement;
  readonly value: string;
  /** Chooses an engine by its kind, or the one on one thread if it is not here. Returns the kind. */
  choose(kind: string): Promise<string>;
}

/** A field to choose an engine. It lists the engines when they are known; until then there is the one on one thread. */
export function engineField(client: Client, onChange: (kind: string) => void): EngineField {
  const select = h("select", {}, h("option", { value: ONE_THREAD }, nameOf(ONE_THREAD)));
  const missing = h("div", { class: "hint" });
  let listing: Promise<void> | undefined;
  const list = (): Promise<void> => {
    listing ??= enginesHere(client).then(draw, () => {
      listing = undefined; // the next computation says what is wrong
    });
    return listing;
  };

  function draw(engines: readonly EngineInfo[]): void {
    const others = engines.filter(({ kind, available }) => available && kind !== ONE_THREAD);
    for (const { kind, device = "" } of others)
      select.append(h("option", { value: kind }, kind === "threads" ? `Wasm, ${device.split(",")[0]}` : nameOf(kind)));
    const absent = engines.filter(({ kind, available }) => !available && kind !== "opencl");
    fill(missing, ...absent.map(({ kind, reason }) => h("p", {}, `${nameOf(kind)}: ${reason}`)));
  }

  select.addEventListener("change", () => onChange(select.value));
  void used.then(list);
  return {
    field: h("label", { class: "field" }, h("span", {}, "Engine"), select),
    missing,
    get value() {
      return select.value;
    },
    async choose(kind) {
      if (kind !== ONE_THREAD && kind !== select.value) await list();
      select.value = kind;
      if (select.value !== kind) select.value = ONE_THREAD;
      return select.value;
    },
  };
}
