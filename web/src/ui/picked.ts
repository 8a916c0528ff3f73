/** Trials that are picked for a comparison, and the one that was last looked at. */
import { signal } from "../signal";
import { store, stored } from "./storage";

/** The most that the server compares at once. */
export const COMPARED = 16;

const KEY = "tenter-picked";
const LAST = "tenter-last";
const changed = signal();

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
  changed.notify();
}

export function usePicked(): string[] {
  return changed.use(() => picked);
}

export function lastTrial(): string | undefined {
  return stored(LAST) ?? undefined;
}

export function rememberTrial(id: string): void {
  store(LAST, id);
}

export function forgetTrials(ids: readonly string[]): void {
  const gone = new Set(ids);
  if (gone.has(lastTrial() ?? "")) store(LAST, null);
  if (picked.some((id) => gone.has(id))) pick(picked.filter((id) => !gone.has(id)));
}
