// The address of the page: everything is in its fragment, #view/rest?parameters, which a browser never sends to a server.

export interface Route {
  readonly view: string;
  readonly rest: string;
  readonly parameters: URLSearchParams;
}

export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#/, "");
  const mark = text.indexOf("?");
  const [path, query] = mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
  const slash = path.indexOf("/");
  const [view, rest] = slash < 0 ? [path, ""] : [path.slice(0, slash), path.slice(slash + 1)];
  return { view, rest: decoded(rest), parameters: new URLSearchParams(query) };
}

// Anybody can write an address.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Shows the state of the page in its address, without a new entry in the history. */
export function replaceRoute(path: string, parameters: URLSearchParams): void {
  const query = parameters.toString();
  history.replaceState(null, "", `#${path}${query === "" ? "" : `?${query}`}`);
}
