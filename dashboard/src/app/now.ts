/** One clock for all relative times of the page. */
import { useSyncExternalStore } from 'react'

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const watchers = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const watcher of watchers) watcher()
}

function subscribe(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = Date.now()
    timer = setInterval(tick, 1_000)
  }
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0) clearInterval(timer)
  }
}

/** The current time, in steps of a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** A text that depends on the time. The component renders again only when the text changes. */
export function useTimed(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => textAt(now))
}
