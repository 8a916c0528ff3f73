/** The value under the pointer on an axis: drawings that share the axis have one cursor. */
import { useCallback, useEffect } from "react";
import { signal } from "../signal";

const values = new Map<string, number>();
const moved = signal();

export function useCursor(axis: string | undefined): [number | undefined, (value: number | undefined) => void] {
  const value = moved.use(() => (axis === undefined ? undefined : values.get(axis)));
  const set = useCallback(
    (next: number | undefined) => {
      if (axis === undefined || values.get(axis) === next) return;
      if (next === undefined) values.delete(axis);
      else values.set(axis, next);
      moved.notify();
    },
    [axis],
  );
  // A plot that goes away under the pointer is not left by it.
  useEffect(() => () => set(undefined), [set]);
  return [value, set];
}
