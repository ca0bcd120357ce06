// The part "Read": the documentation, with a search and examples that run.
import { pages } from "virtual:documents";
import type { View } from "../main.ts";
import { fill, h } from "../page/dom.ts";
import { addRunButtons } from "./examples.ts";
import type { Found } from "./search.ts";

export function view(): View {
  let shown = "";
  const query = h("input", { type: "search", placeholder: "Search", aria: { label: "Search the documentation" } });
  const found = h("div", { class: "found" });
  const count = h("p", { class: "away", aria: { role: "status" } });
  const links = new Map(pages.map(({ id, title }) => [id, h("a", { href: `#read/${id}` }, title)]));
  const groups = [...new Set(pages.map(({ group }) => group))];
  const list = h(
    "nav",
    { aria: { label: "Pages of the documentation" } },
    ...groups.flatMap((group) => [
      h("h2", {}, group),
      h("ul", {}, ...pages.flatMap((page) => (page.group === group ? [h("li", {}, links.get(page.id))] : []))),
    ]),
  );
  const contents = h("details", { class: "contents" }, h("summary", {}, "All pages"), list);
  const article = h("article", {}, h("p", { class: "waiting" }, "Loading…"));
  const element = h("div", { class: "read" }, h("aside", {}, query, count, found, contents), article);
  const wide = matchMedia("(min-width: 60rem)");
  const unfold = (): void => {
    contents.open = wide.matches;
  };
  wide.addEventListener("change", unfold);
  unfold();

  async function find(): Promise<void> {
    const { search } = await import("./search.ts");
    const results = search(query.value);
    const hasQuery = query.value.trim() !== "";
    fill(found, ...results.map(drawFound), hasQuery && results.length === 0 && h("p", { class: "hint" }, "Nothing found."));
    fill(count, hasQuery ? `${results.length} sections found` : "");
    list.hidden = hasQuery;
  }
  query.addEventListener("input", () => void find());
  query.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") void find().then(() => found.querySelector("a")?.click());
  });

  function drawFound({ page, anchor, title, before, match, after }: Found): HTMLElement {
    const name = pages.find(({ id }) => id === page)?.title ?? page;
    const link = h("a", { href: `#read/${page}?at=${encodeURIComponent(anchor)}` }, title);
    return h(
      "p",
      {},
      link,
      title === name ? undefined : h("small", {}, ` ${name}`),
      h("span", { class: "hint block" }, before, h("mark", {}, match), after),
    );
  }

  async function open(id: string, anchor: string): Promise<void> {
    const page = pages.find((each) => each.id === id) ?? pages[0];
    if (!page) return;
    for (const [each, link] of links)
      if (each === page.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    if (shown !== page.id) {
      shown = page.id;
      try {
        const { html } = await page.load();
        if (shown !== page.id) return;
        article.innerHTML = html; // made from our own documents at build time, escaped there
        addRunButtons(article);
        if (!wide.matches) contents.open = false;
      } catch (error) {
        shown = "";
        fill(article, h("p", { class: "error" }, `This page could not be loaded: ${(error as Error).message}`));
        return;
      }
    }
    document.title = `${page.title} · halfulp`;
    const target = anchor === "" ? undefined : document.getElementById(`doc-${anchor}`);
    if (target) {
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    } else scrollTo(0, 0);
  }

  return {
    title: "Read",
    element,
    show: ({ rest, parameters }) => void open(rest, parameters.get("at") ?? ""),
  };
}
