/** Routes are the part of the address behind `#`, so that the server has one page alone. */
import { useSyncExternalStore } from "react";

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

function parse(): Route {
  const [path = "", query = ""] = window.location.hash.replace(/^#\/?/, "").split("?");
  return {
    parts: path.split("/").filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(query),
  };
}

let current = parse();
const listeners = new Set<() => void>();

window.addEventListener("hashchange", () => {
  current = parse();
  for (const listener of listeners) listener();
});

export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

/** The address of a page: `href(["trials", id, "fabric"], {time: "5"})`. */
export function href(parts: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const tail = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${tail ? `?${tail}` : ""}`;
}

export function go(parts: string[], query: Record<string, string | undefined> = {}, replace = false): void {
  const to = href(parts, query);
  if (!replace) {
    window.location.hash = to;
    return;
  }
  window.history.replaceState(null, "", to);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}
