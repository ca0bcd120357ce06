// The page: its parts are views, each loaded when it is opened. The fragment of the address says which is open.
import { fill, h } from "./page/dom.ts";
import { parseRoute, type Route } from "./page/route.ts";
import { view as tryView } from "./try/view.ts";

/** A part of the page. `show` is called whenever the address names it; what it returned before stays in memory. */
export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  show(route: Route): void;
}

const LOADERS: Record<string, () => Promise<View>> = {
  try: async () => tryView(),
  bits: async () => (await import("./bits/view.ts")).view(),
  race: async () => (await import("./race/view.ts")).view(),
  read: async () => (await import("./read/view.ts")).view(),
};

const main = document.querySelector("main") as HTMLElement;
const views = new Map<string, Promise<View>>();

async function open(event?: HashChangeEvent): Promise<void> {
  const route = parseRoute(location.hash);
  const name = route.view in LOADERS ? route.view : "try";
  for (const link of document.querySelectorAll("header nav a"))
    if (link.getAttribute("href") === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  let view = views.get(name);
  if (!view) {
    view = (LOADERS[name] as () => Promise<View>)();
    views.set(name, view);
  }
  try {
    const { title, element, show } = await view;
    if (parseRoute(location.hash).view !== route.view) return; // left meanwhile
    const isNew = main.firstElementChild !== element;
    if (isNew) fill(main, element);
    document.title = `${title} · halfulp`;
    show(route);
    if (event && isNew) {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
  } catch (error) {
    views.delete(name);
    fill(main, h("p", { class: "error" }, `This part could not be loaded: ${(error as Error).message}`));
  }
}

const ISOLATED = "This page is cross-origin isolated: threads have shared memory.";
const NOT_ISOLATED =
  "This page is not cross-origin isolated, so it goes on with one thread. Threads need the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp.";
const isolation = document.getElementById("isolation") as HTMLElement;
fill(isolation, globalThis.crossOriginIsolated ? ISOLATED : NOT_ISOLATED);

const theme = document.getElementById("theme") as HTMLButtonElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const stored = (() => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // storage may be forbidden
  }
})();
let chosen = stored === "light" || stored === "dark" ? stored : undefined;
const isDark = (): boolean => (chosen ?? (dark.matches ? "dark" : "light")) === "dark";
function paint(): void {
  document.documentElement.style.colorScheme = chosen ?? "";
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
}
theme.addEventListener("click", () => {
  chosen = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // it then holds for this visit
  }
  paint();
});
dark.addEventListener("change", paint);
paint();

addEventListener("hashchange", open);
await open();

if (import.meta.env.PROD && "serviceWorker" in navigator) navigator.serviceWorker.register("./serviceWorker.js").catch(() => {}); // it then needs the network
