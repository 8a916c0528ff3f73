/** The one stream of events of the page: states of trials, progress of the one that runs, sweeps. */
import { useEffect } from "react";
import { signal } from "../signal";
import type { Progress } from "./types";

type Kind = "trial" | "sweep" | "reset";

const progress = new Map<number, Progress>();
const changed = signal();
const handlers = new Map<Kind, Set<(id: string) => void>>();
let connected = true;

function emit(kind: Kind, id: string): void {
  for (const handler of handlers.get(kind) ?? []) handler(id);
}

let source: EventSource | undefined;

/** Opens the stream once; the browser reconnects by itself and names the last event it has seen. */
export function listen(): void {
  if (source) return;
  source = new EventSource("/api/v1/events");
  source.addEventListener("progress", (event: MessageEvent<string>) => {
    const value = JSON.parse(event.data) as Progress;
    progress.set(value.id, value);
    changed.notify();
  });
  for (const kind of ["trial", "sweep"] as const) {
    source.addEventListener(kind, (event: MessageEvent<string>) => {
      emit(kind, String((JSON.parse(event.data) as { id: string | number }).id));
    });
  }
  source.addEventListener("reset", () => emit("reset", ""));
  source.addEventListener("open", () => {
    // What has changed while the stream was away is not known.
    if (!connected) emit("reset", "");
    connected = true;
    changed.notify();
  });
  source.addEventListener("error", () => {
    connected = false;
    changed.notify();
  });
}

export function useProgress(id: number | undefined): Progress | undefined {
  return changed.use(() => (id ? progress.get(id) : undefined));
}

export function useConnected(): boolean {
  return changed.use(() => connected);
}

/** Calls back when a trial (or sweep) changes, and when it is not known what has changed. */
export function useChanges(kind: "trial" | "sweep", back: (id: string) => void): void {
  useEffect(() => {
    for (const one of [kind, "reset"] as const) {
      const set = handlers.get(one) ?? new Set();
      handlers.set(one, set.add(back));
    }
    return () => {
      for (const one of [kind, "reset"] as const) handlers.get(one)?.delete(back);
    };
  }, [kind, back]);
}
