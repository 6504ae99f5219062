/**
 * One bound for all bodies that are in memory together. Each is bounded by itself, but a thousand senders at once are
 * not: beyond the bound a delivery is answered 503 and its sender comes back.
 */
export interface BodyBudget {
  /** Bytes of bodies that are being read or answered now. */
  readonly usedBytes: number
  begin(): BodyReading
}

export interface BodyReading {
  /** Counts a piece that has arrived. False: there is no room for it. */
  take(bytes: number): boolean
  /** Called when this body has to make room for others. It was slow, and is not complete. */
  onEvicted(evict: () => void): void
  /** The body is here: it is no longer asked to make room. */
  complete(): void
  /** Gives the memory back. */
  end(): void
}

interface Entry {
  bytes: number
  readonly since: number
  evict: (() => void) | null
}

/** A body that takes longer than this gives way to others: a few slow senders could hold all of it otherwise. */
const SLOW_MS = 1_000

export function createBodyBudget(mostBytes: number, now: () => number = () => performance.now()): BodyBudget {
  /** In the order they began. */
  const entries = new Set<Entry>()
  let used = 0

  function end(entry: Entry): void {
    if (!entries.delete(entry)) return
    used -= entry.bytes
    entry.evict = null
  }

  function makeRoom(bytes: number, asking: Entry): void {
    const before = now() - SLOW_MS
    for (const entry of entries) {
      if (used + bytes <= mostBytes || entry.since > before) return
      if (entry === asking || entry.evict === null || entry.bytes === 0) continue
      const { evict } = entry
      end(entry)
      evict()
    }
  }

  return {
    get usedBytes() {
      return used
    },
    begin() {
      const entry: Entry = { bytes: 0, since: now(), evict: null }
      entries.add(entry)
      return {
        take(bytes) {
          if (!entries.has(entry)) return false
          if (used + bytes > mostBytes) makeRoom(bytes, entry)
          // One body alone always fits: its own limit is what bounds it.
          if (used + bytes > mostBytes && used > entry.bytes) return false
          used += bytes
          entry.bytes += bytes
          return true
        },
        onEvicted(evict) {
          entry.evict = evict
        },
        complete() {
          entry.evict = null
        },
        end: () => end(entry),
      }
    },
  }
}
