/** A value outside of React that components can watch. */
import { useSyncExternalStore } from 'react'

export function createStore<T>(value: T) {
  const watchers = new Set<() => void>()
  // One function for all renderings: a new one would subscribe again, in every row of a list.
  const watch = (watcher: () => void) => {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }
  return {
    get: () => value,
    set(next: T): void {
      value = next
      for (const watcher of watchers) watcher()
    },
    use: () => useSyncExternalStore(watch, () => value),
  }
}
