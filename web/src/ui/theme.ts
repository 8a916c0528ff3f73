import { useSyncExternalStore } from "react";
import { DARK, LIGHT, type Theme } from "../draw/theme";
import { store, stored } from "./storage";

export type Choice = "auto" | "light" | "dark";

const KEY = "tenter-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let printing = false;

function kept(): Choice {
  const value = stored(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

let choice = kept();

function isDark(): boolean {
  return !printing && (choice === "dark" || (choice === "auto" && system.matches));
}

function apply(): void {
  document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

system.addEventListener("change", apply);
// Paper is white: drawings have colours of their own, which must change before they are printed.
window.addEventListener("beforeprint", () => {
  printing = true;
  apply();
});
window.addEventListener("afterprint", () => {
  printing = false;
  apply();
});
apply();

export function choose(next: Choice): void {
  choice = next;
  store(KEY, next === "auto" ? null : next);
  apply();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function useChoice(): Choice {
  return useSyncExternalStore(subscribe, () => choice);
}

/** The colours of drawings, which follow the scheme. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => (isDark() ? DARK : LIGHT));
}
