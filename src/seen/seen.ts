/**
 * `seen` is a cache of keys that are in the log. It is written only after a commit: a hit proves a committed row. A miss, an
 * error, an eviction or a restart costs a query to the log, which decides.
 */
import type { EventKey } from '../model.js'
import { checkOptions, isObject, rule, whole } from '../options.js'

/** `log` is the id of the log: a cache may be shared by two logs, or be left over from another one. */
export interface SeenKey extends EventKey {
  readonly log: string
}

export interface SeenEntry {
  readonly seq: number
  readonly hash: Uint8Array
  /** `succeeded` and `ignored` are finished; `pending` stands for all other states. */
  readonly state: 'pending' | 'succeeded' | 'ignored'
  /** The log was last asked then. Milliseconds. */
  readonly confirmedAt: number
  /** The reader checks it: an entry that a cache holds too long does no harm. */
  readonly expiresAt: number
}

export interface Seen {
  /** Shown in log lines: `lru`, `redis`. */
  readonly name: string
  /** An entry or null for each key, in order. May throw: then the log is asked. */
  get(keys: readonly SeenKey[]): Promise<(SeenEntry | null)[]>
  /** Null = forget the key. May throw, and may lose entries. */
  put(entries: readonly { readonly key: SeenKey; readonly entry: SeenEntry | null }[]): Promise<void>
}

/** `seen` inside the process: the last `size` keys, without a network. */
export function lru(size = 10_000): Seen {
  checkOptions('lru(size): `size`', size, whole(1, 10_000_000))
  // A Map iterates as it was filled: a used entry moves to the end, the first one is evicted.
  const entries = new Map<string, SeenEntry>()
  return {
    name: 'lru',
    async get(keys) {
      return keys.map((key) => {
        const text = seenKeyText(key)
        const entry = entries.get(text)
        if (!entry) return null
        entries.delete(text)
        entries.set(text, entry)
        return entry
      })
    },
    async put(changes) {
      for (const { key, entry } of changes) {
        const text = seenKeyText(key)
        entries.delete(text)
        if (entry) entries.set(text, entry)
      }
      for (const oldest of entries.keys()) {
        if (entries.size <= size) break
        entries.delete(oldest)
      }
    },
  }
}

/** The lengths come first, so that two different keys never have the same text. */
export function seenKeyText({ log, source, id }: SeenKey): string {
  return `${log.length}:${source.length}:${log}${source}${id}`
}

export const seenRule = rule(
  'lru() of hookonce, or redis(client) of hookonce/redis',
  (value) => isObject(value) && typeof value.get === 'function' && typeof value.put === 'function',
)
