/** Elements of a page, found and made. */

export function all<T extends Element>(root: ParentNode, selector: string): T[] {
  return [...root.querySelectorAll<T>(selector)];
}

export function make<K extends keyof HTMLElementTagNameMap>(name: K, text = "", className = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  if (className) element.className = className;
  return element;
}

export function button(text: string, act: () => void): HTMLButtonElement {
  const made = make("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
