/**
 * Routes are the part of the address behind `#`, so that the server has one page alone. What is chosen in a
 * view is in its query: Back, a reload and a link that is sent show it again.
 */
import { useCallback, useMemo } from "react";
import { signal } from "../signal";
import type { Kind } from "./view-kinds";

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
const changed = signal();

function moved(to: Route): void {
  current = to;
  changed.notify();
}

window.addEventListener("hashchange", () => {
  drop();
  moved(parse());
});

export const useRoute = (): Route => changed.use(() => current);

/** The address of a page: `href(["trials", id, "fabric"], {time: "5"})`. */
export function href(parts: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const tail = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${tail ? `?${tail}` : ""}`;
}

export function go(parts: string[], query: Record<string, string | undefined> = {}, replace = false): void {
  const to = href(parts, query);
  if (!replace) {
    flush();
    window.location.hash = to;
    return;
  }
  drop();
  window.history.replaceState(null, "", to);
  moved(parse());
}

/** Browsers refuse addresses that change too often, as they would while something is dragged. */
const PAUSE = 250;
let pending: number | undefined;
let written = -Infinity;

function drop(): void {
  window.clearTimeout(pending);
  pending = undefined;
}

/** Writes what has changed in the view into the address. */
function flush(): void {
  if (pending === undefined) return;
  drop();
  written = performance.now();
  window.history.replaceState(null, "", href(current.parts, Object.fromEntries(current.query)));
}

// A link that is followed leaves the address behind it as it stands.
window.addEventListener("click", flush, { capture: true });
window.addEventListener("pagehide", flush);

/** Changes what the address says of the view: the view follows at once, and so does the address, unless it has just changed. */
export function show(change: Record<string, string | undefined>): void {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  if (query.toString() === current.query.toString()) return;
  moved({ parts: current.parts, query });
  pending ??= window.setTimeout(flush, PAUSE);
  if (performance.now() - written >= PAUSE) flush();
}

/** A value of a view that is in the address, under a name that no other part of the page has. */
export function useShown<T>(name: string, kind: Kind<T>): [T, (next: T) => void] {
  const text = changed.use(() => current.query.get(name));
  const value = useMemo(() => kind.read(text), [kind, text]);
  const set = useCallback((next: T) => show({ [name]: kind.write(next) }), [name, kind]);
  return [value, set];
}
