/** What the browser keeps for the page. A report may be shown where it keeps nothing: in a sandbox, from a file. */

export function stored(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string | null): void {
  try {
    if (value === null) window.localStorage.removeItem(key);
    else window.localStorage.setItem(key, value);
  } catch {
    // What is chosen holds until the page is closed.
  }
}
