import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { problemOf, type Problem } from "../api/problem";
import { ROWS as SIZE } from "../views";
import { queries } from "./load";

export interface Pages<R> {
  total: number | undefined;
  row: (index: number) => R | undefined;
  /** Sees to it that these rows are fetched. */
  need: (from: number, to: number) => void;
  problem: Problem | undefined;
}

type Found<R> = { total: number; rows: R[] };

/**
 * Rows of a long table with some columns, fetched by the page as they come into sight. Those of the last
 * order and filter stay until those of this one are there; rows of other columns never do.
 */
export function usePages<R>(columns: string, order: string | null, load: (offset: number, limit: number) => Promise<Found<R>>): Pages<R> {
  const [[first, last], setSight] = useState<readonly [number, number]>([0, 0]);
  const [shown, setShown] = useState({ columns, order, total: undefined as number | undefined });
  const of = (from: string | null, page: number) => ["rows", columns, from, page];
  const found = useQueries(
    {
      queries: Array.from({ length: last - first + 1 }, (_, at) => ({
        queryKey: of(order, first + at),
        queryFn: () => load((first + at) * SIZE, SIZE),
        enabled: order !== null,
        placeholderData: () => (shown.columns === columns ? queries.getQueryData<Found<R>>(of(shown.order, first + at)) : undefined),
      })),
    },
    queries,
  );
  const total = found.find((one) => one.data && !one.isPlaceholderData)?.data?.total;
  useEffect(() => {
    if (total !== undefined) setShown({ columns, order, total });
  }, [columns, order, total]);
  const failed = found.find((one) => one.error);
  return {
    total: total ?? shown.total,
    row: (index) => found[Math.floor(index / SIZE) - first]?.data?.rows[index % SIZE],
    need: (from, to) => {
      const sight = [Math.floor(from / SIZE), Math.floor(to / SIZE)] as const;
      if (sight[0] !== first || sight[1] !== last) setSight(sight);
    },
    problem: failed ? problemOf(failed.error) : undefined,
  };
}
