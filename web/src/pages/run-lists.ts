/** What the Run page lists: the trial that it shows, and the others by what becomes of them. */
import type { Row } from "../api/types";

export interface RunLists {
  /** The number of the trial that is shown. */
  shown: string | undefined;
  running: Row[];
  waiting: Row[];
  ended: Row[];
}

/** The trials that are running, those that wait in the order in which they will run, and the last to end. */
interface Found {
  running: Row[];
  waiting: Row[];
  ended: Row[];
}

const MOST_ENDED = 8;

/** `asked` is the trial that the address names; without one it is one that runs, or the next to. */
export function runLists(found: Found, asked: string | undefined): RunLists {
  // The answers come one after the other: a trial that starts in between is in two of them.
  const known = new Set<number>();
  const once = (rows: Row[], states: Row["state"][], without = false) =>
    rows.filter((row) => {
      if (known.has(row.id) || states.includes(row.state) === without) return false;
      known.add(row.id);
      return true;
    });
  const running = once(found.running, ["running"]);
  const waiting = once(found.waiting, ["queued"]);
  const ended = once(found.ended, ["running", "queued"], true);
  const next = running[0] ?? waiting[0];
  const shown = asked ?? (next ? String(next.id) : undefined);
  const others = (rows: Row[]) => rows.filter((row) => String(row.id) !== shown);
  return { shown, running: others(running), waiting: others(waiting), ended: others(ended).slice(0, MOST_ENDED) };
}

/** How many trials the server runs at once, for people. */
export function sideBySide(jobs: number | undefined): string {
  if (jobs === undefined) return "Each trial keeps what it has if it is stopped.";
  const order = jobs === 1 ? "Trials run one after the other" : `Up to ${jobs} trials run side by side, in the order in which they were queued`;
  return `${order}; each keeps what it has if it is stopped.`;
}
