/** Values outside components that components follow. */
import { useSyncExternalStore } from "react";

export interface Signal {
  /** Tells all followers that something has changed. */
  notify: () => void;
  /** Follows what `read` returns; gives back how to stop. */
  subscribe: (follower: () => void) => () => void;
  /** What `read` returns, in a component that is drawn again when that changes. */
  use: <T>(read: () => T) => T;
}

export function signal(): Signal {
  const followers = new Set<() => void>();
  const subscribe = (follower: () => void) => {
    followers.add(follower);
    return () => {
      followers.delete(follower);
    };
  };
  return {
    notify: () => {
      for (const follower of followers) follower();
    },
    subscribe,
    use: function useSignal(read) {
      return useSyncExternalStore(subscribe, read);
    },
  };
}
