// The documentation as modules (site/virtual.d.ts): README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ become a list of pages, the HTML of
// each page, and the text of their sections for the search. A page is loaded when somebody opens it.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked, type Tokens } from "marked";
import type { Plugin } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface DocumentPage {
  /** The path without its extension: "README", "docs/solve", "docs/guides/gpu". */
  readonly file: string;
  /** In the address: "overview", "solve", "guides/gpu". */
  readonly id: string;
  readonly title: string;
  readonly group: string;
}

export interface Section {
  readonly page: string;
  readonly anchor: string;
  readonly title: string;
  readonly text: string;
}

const GROUPS = ["Start", "Guides", "Topics", "Reference", "Development"];
const GROUP_OF: Record<string, string> = {
  overview: "Start",
  spec: "Reference",
  api: "Reference",
  glossary: "Reference",
  architecture: "Development",
  contributing: "Development",
  changelog: "Development",
};

/** All pages, in the order of the list. */
export function listDocuments(): DocumentPage[] {
  const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const files = ["README.md", ...inDocs.map((name) => `docs/${name.replaceAll("\\", "/")}`).sort(), "CONTRIBUTING.md", "CHANGELOG.md"];
  const pages = files.map((path) => {
    const file = path.replace(/\.md$/, "");
    const id = file === "README" ? "overview" : file.replace(/^docs\//, "").toLowerCase();
    const title = file === "README" ? "Overview" : (/^# (.*)$/m.exec(readFileSync(join(root, path), "utf8"))?.[1] ?? id);
    return { file, id, title: title.replaceAll("`", ""), group: GROUP_OF[id] ?? (id.startsWith("guides/") ? "Guides" : "Topics") };
  });
  return pages.sort((a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
}

/** The HTML of a page and its sections. */
export function renderDocument(page: DocumentPage, pages: readonly DocumentPage[]): { html: string; sections: Section[] } {
  const used = new Map<string, number>();
  const sections: { page: string; anchor: string; title: string; text: string }[] = [];
  const anchorOf = (title: string): string => {
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
  const address = (target: string): string | undefined => {
    if (/^https?:/.test(target)) return target;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page.file : posix.join(posix.dirname(page.file), path).replace(/\.md$/, "");
    const found = pages.find((other) => other.file === file);
    return found && `#read/${found.id}${anchor === undefined ? "" : `?at=${encodeURIComponent(anchor)}`}`;
  };

  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const inline = this.parser.parseInline(tokens);
        const title = unescaped(inline.replace(/<[^>]*>/g, ""));
        const anchor = anchorOf(title);
        sections.push({ page: page.id, anchor, title, text: "" });
        return `<h${depth} id="doc-${escaped(anchor)}" tabindex="-1">${inline}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inline = this.parser.parseInline(tokens);
        const to = address(href);
        return to === undefined ? inline : `<a href="${escaped(to)}"${to.startsWith("#") ? "" : ' rel="noreferrer"'}>${inline}</a>`;
      },
      image: ({ text }: Tokens.Image): string => `<em>${escaped(text)}</em>`,
      table(token: Tokens.Table): string {
        const cell = ({ tokens, align, header }: Tokens.TableCell): string => {
          const name = header ? "th" : "td";
          const inline = this.parser.parseInline(tokens);
          return `<${header && inline === "" ? "td" : name}${align ? ` class="${align}"` : ""}>${inline}</${header && inline === "" ? "td" : name}>`;
        };
        const row = (cells: Tokens.TableCell[]): string => `<tr>${cells.map(cell).join("")}</tr>`;
        const body = token.rows.map(row).join("\n");
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(token.header)}</thead><tbody>\n${body}</tbody></table></div>\n`;
      },
      code({ text, lang }: Tokens.Code): string {
        const [language = "", ...marks] = (lang ?? "").split(" ");
        return `<pre tabindex="0" data-language="${escaped(language)}"${marks.includes("run") ? " data-run" : ""}><code>${escaped(text)}</code></pre>\n`;
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag): string => (text.startsWith("<!--") ? "" : escaped(text)),
    },
  });
  const text = readFileSync(join(root, `${page.file}.md`), "utf8");
  const tokens = marked.lexer(text);
  for (const [i, token] of tokens.entries())
    if (token.type === "code" && token.lang === "js" && isRunnable(token.text) && followedByOutput(tokens, i)) token.lang = "js run";
  const html = marked.parser(tokens);
  // the words of each section, for the search
  let current = -1;
  for (const token of tokens)
    if (token.type === "heading") current++;
    else if (current >= 0 && token.type !== "space") {
      const section = sections[current];
      if (section) section.text = `${section.text} ${plain(token.raw)}`.trim();
    }
  return { html, sections };
}

function followedByOutput(tokens: readonly { type: string; lang?: string }[], at: number): boolean {
  const next = tokens.slice(at + 1).find(({ type }) => type !== "space");
  return next?.type === "code" && next.lang === "text";
}

/** Whether an example can run in a page: all that it imports is the package, and it names no engine that browsers lack. */
export function isRunnable(code: string): boolean {
  const modules = [...code.matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  return (
    modules.length > 0 && modules.every((name) => name === "halfulp") && !/opencl|webgpu|import\.meta|process\.|engines\(\)/.test(code)
  );
}

const plain = (markdown: string): string =>
  markdown
    .replace(/^```\w*$/gm, " ")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(/[`*|[\]#]/g, " ")
    .replace(/\s+/g, " ");
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");

const LIST = "virtual:documents";
const SEARCH = "virtual:documents/search";
const PAGE = "virtual:documents/page/";

export function documents(): Plugin {
  return {
    name: "halfulp:documents",
    resolveId: (source) => (source.startsWith(LIST) ? `\0${source}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${LIST}`)) return undefined;
      const pages = listDocuments();
      for (const { file } of pages) this.addWatchFile(join(root, `${file}.md`));
      const name = id.slice(1);
      if (name === LIST) {
        const entries = pages.map(
          ({ id: page, title, group }) =>
            `{ ...${JSON.stringify({ id: page, title, group })}, load: () => import(${JSON.stringify(PAGE + page)}) }`,
        );
        return `export const pages = [${entries.join(",\n")}];`;
      }
      if (name === SEARCH)
        return `export const sections = ${JSON.stringify(pages.flatMap((page) => renderDocument(page, pages).sections))};`;
      const page = pages.find((each) => PAGE + each.id === name);
      return page && `export const html = ${JSON.stringify(renderDocument(page, pages).html)};`;
    },
  };
}
