/** `seen` inside the process: the last `size` keys, with no network. */
import { checkCount } from '../store-input.js'
import type { Seen, SeenEntry, SeenKey } from './seen.js'

export function lru(size = 10_000): Seen {
  checkCount('The size of an lru', size, 10_000_000)
  // A Map remembers the order of insertion: what is used goes to the end, what is at the front goes first.
  const entries = new Map<string, SeenEntry>()
  return {
    name: 'lru',
    async get(keys) {
      return keys.map((key) => {
        const name = nameOf(key)
        const entry = entries.get(name)
        if (!entry) return null
        entries.delete(name)
        entries.set(name, entry)
        return entry
      })
    },
    async put(given) {
      for (const { key, entry } of given) {
        const name = nameOf(key)
        entries.delete(name)
        if (entry) entries.set(name, entry)
      }
      for (const oldest of entries.keys()) {
        if (entries.size <= size) break
        entries.delete(oldest)
      }
    },
  }
}

/** The lengths first: two different keys never make one name. */
export function nameOf({ log, source, eventId }: SeenKey): string {
  return `${log.length}:${source.length}:${log}${source}${eventId}`
}
