/** What the page has asked the server for: kept for a minute, shared by all parts that ask for the same. */
import { keepPreviousData, QueryClient, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { problemOf, type Problem, Refused } from "../api/problem";
import { isReport } from "../embedded";
import { paced } from "./paced";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The server is on this machine or in a lab: what a browser thinks of its network is not asked.
      networkMode: "always",
      retry: false,
      refetchOnWindowFocus: false,
      gcTime: 60_000,
      // A report never changes.
      staleTime: isReport ? Infinity : 0,
      placeholderData: keepPreviousData,
    },
  },
});

export interface Loaded<T> {
  data: T | undefined;
  /** Whether `data` is of an earlier key, while the next is fetched. */
  stale: boolean;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

/**
 * What `load` gives for a key, again whenever the key changes; the key stands for everything that the
 * request depends on. While the next one is fetched the last one stays, so that nothing flickers, and while
 * the server does not answer, too; what it refuses is gone. An answer that is large is asked for again less often.
 */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, large = false): Loaded<T> {
  // A request that has nothing to say is an answer, too.
  const query = useQuery({ queryKey: [key], queryFn: async ({ signal }) => (await load(signal)) ?? null, enabled: key !== null, structuralSharing: !large }, queries);
  const { refetch } = query;
  const asks = key !== null;
  const reload = useMemo(() => (asks ? paced(() => refetch(), large ? 15 : 1) : () => undefined), [refetch, asks, large]);
  return {
    data: query.error instanceof Refused ? undefined : (query.data ?? undefined),
    stale: query.isPlaceholderData,
    problem: query.error ? problemOf(query.error) : undefined,
    loading: query.isFetching,
    reload,
  };
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
