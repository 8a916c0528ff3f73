/** Trials that are picked for a comparison, and the one that was last looked at. */
import { useSyncExternalStore } from "react";

const KEY = "tenter-picked";
const LAST = "tenter-last";
const listeners = new Set<() => void>();

function read(): string[] {
  try {
    const value: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}

let picked = read();

export function pick(ids: string[]): void {
  picked = ids;
  window.localStorage.setItem(KEY, JSON.stringify(ids));
  for (const listener of listeners) listener();
}

export function usePicked(): string[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => picked,
  );
}

export function lastTrial(): string | undefined {
  return window.localStorage.getItem(LAST) ?? undefined;
}

export function rememberTrial(id: string): void {
  window.localStorage.setItem(LAST, id);
}

export function forgetTrial(id: string): void {
  if (lastTrial() === id) window.localStorage.removeItem(LAST);
  if (picked.includes(id)) pick(picked.filter((other) => other !== id));
}
