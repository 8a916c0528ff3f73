/** Trials that are picked for a comparison, and the one that was last looked at. */
import { useSyncExternalStore } from "react";
import { store, stored } from "./storage";

const KEY = "tenter-picked";
const LAST = "tenter-last";
const listeners = new Set<() => void>();

function read(): string[] {
  try {
    const value: unknown = JSON.parse(stored(KEY) ?? "[]");
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}

let picked = read();

export function pick(ids: string[]): void {
  picked = ids;
  store(KEY, JSON.stringify(ids));
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
  return stored(LAST) ?? undefined;
}

export function rememberTrial(id: string): void {
  store(LAST, id);
}

export function forgetTrial(id: string): void {
  if (lastTrial() === id) store(LAST, null);
  if (picked.includes(id)) pick(picked.filter((other) => other !== id));
}
