/** Pages that are fetched when they are first shown. */
import { type ComponentType, createElement, type ReactNode, use } from "react";

/** A part of the page that the server did not hand out. */
export class NotFetched extends Error {
  constructor(cause: unknown) {
    super("a part of the page could not be fetched", { cause });
    this.name = "NotFetched";
  }
}

const failed = new Set<() => void>();

/** Forgets which parts could not be fetched, so that they are asked for again. */
export function forgetFailed(): void {
  for (const forget of failed) forget();
  failed.clear();
}

/** Keeps what `load` gives; what it fails with is kept until `forgetFailed`, or it would be asked for without end. */
export function fetchedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= load().catch((error: unknown) => {
      failed.add(() => (asked = undefined));
      throw new NotFetched(error);
    });
    return asked;
  };
}

/** A component that is fetched when it is first drawn; above it are a `Suspense` and a `Boundary`. */
export function fetched<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => ReactNode {
  const once = fetchedOnce(load);
  return function Fetched(props: P) {
    return createElement(use(once()), props);
  };
}
