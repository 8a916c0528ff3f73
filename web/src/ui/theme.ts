import { DARK, LIGHT, type Theme } from "../draw/theme";
import { signal } from "../signal";
import { store, stored } from "./storage";

export type Choice = "auto" | "light" | "dark";

const KEY = "tenter-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const changed = signal();
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
  changed.notify();
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

export function useChoice(): Choice {
  return changed.use(() => choice);
}

/** The colours of drawings, which follow the scheme. */
export function useTheme(): Theme {
  return changed.use(() => (isDark() ? DARK : LIGHT));
}
