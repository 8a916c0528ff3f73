import { useCallback, useEffect, useRef, useState } from "react";
import { problemOf, type Problem } from "../api/problem";
import { ROWS as SIZE } from "../views";

export interface Pages<R> {
  total: number | undefined;
  row: (index: number) => R | undefined;
  /** Sees to it that these rows are fetched. */
  need: (from: number, to: number) => void;
  problem: Problem | undefined;
}

interface Held<R> {
  key: string;
  total: number | undefined;
  pages: Map<number, R[]>;
  asked: Set<number>;
}

/** Rows of a long table, fetched by the page as they come into sight; a new key starts over. */
export function usePages<R>(key: string, load: (offset: number, limit: number) => Promise<{ total: number; rows: R[] }>): Pages<R> {
  const held = useRef<Held<R>>({ key: "", total: undefined, pages: new Map(), asked: new Set() });
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const ask = (page: number) => {
    const now = held.current;
    if (now.asked.has(page)) return;
    now.asked.add(page);
    load(page * SIZE, SIZE).then(
      (answer) => {
        if (held.current.key !== now.key || held.current !== now) return;
        now.total = answer.total;
        now.pages.set(page, answer.rows);
        setProblem(undefined);
        redraw((turn) => turn + 1);
      },
      (error: unknown) => {
        if (held.current === now) setProblem(problemOf(error));
      },
    );
  };
  useEffect(() => {
    // The rows of the last key are shown until those of this one are there.
    const last = held.current;
    held.current = { key, total: last.total, pages: new Map(last.pages), asked: new Set() };
    ask(0);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key]);
  const need = (from: number, to: number) => {
    for (let page = Math.floor(from / SIZE); page <= Math.floor(to / SIZE); page += 1) ask(page);
  };
  const row = useCallback((index: number) => held.current.pages.get(Math.floor(index / SIZE))?.[index % SIZE], []);
  return { total: held.current.total, row, need, problem };
}
