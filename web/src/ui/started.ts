/** Trials that this page has started, and not yet led to their results. */
const started = new Set<string>();

export function noteStarted(id: string): void {
  started.add(id);
}

/** Whether a trial was started here; once. A short trial may be done before it is first asked for. */
export function takeStarted(id: string): boolean {
  return started.delete(id);
}
