import { useCallback, useEffect, useState } from "react";
import { problemOf, type Problem } from "../api/problem";

export interface Loaded<T> {
  /** The key that `data` is of, which is an earlier one while the next is fetched. */
  key: string | null;
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

/**
 * What `fetch` gives for a key, again whenever the key changes. While the next one is fetched the
 * last one stays, so that nothing flickers.
 */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data: T | undefined; problem: Problem | undefined; loading: boolean }>({
    key: null,
    data: undefined,
    problem: undefined,
    loading: key !== null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (key === null) return undefined;
    const control = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    // What fails before it asks has failed all the same.
    new Promise<T>((done) => done(load(control.signal))).then(
      (data) => {
        if (!control.signal.aborted) setState({ key, data, problem: undefined, loading: false });
      },
      (error: unknown) => {
        if (control.signal.aborted) return;
        setState({ key, data: undefined, problem: problemOf(error), loading: false });
      },
    );
    return () => control.abort();
    // The key stands for everything that the request depends on.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, turn]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  return { key: state.key, data: state.data, problem: state.problem, loading: state.loading, reload };
}

/** A value that follows another one once it has stood still for a time, in milliseconds. */
export function useSettled<T>(value: T, delay: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), delay);
    return () => window.clearTimeout(timer);
  }, [value, delay]);
  return settled;
}
