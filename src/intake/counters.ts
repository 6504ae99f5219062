/** What intake has seen since it started, by source. `/metrics` and tests read it; nothing here is about one delivery. */
export interface SourceCounters {
  received: number
  recorded: number
  duplicates: number
  conflicts: number
  replayed: number
  handshakes: number
  /** By reason: a reject reason of the provider contract, a refusal at the door, or an error code. */
  readonly rejected: Record<string, number>
}

export interface Counters {
  of(source: string): SourceCounters
  readonly bySource: ReadonlyMap<string, Readonly<SourceCounters>>
  /** Commits of the log made by intake, and the deliveries in them. */
  commits: number
  committed: number
}

/** Deliveries for a source that does not exist are counted together: a name from outside must not make a counter. */
export const UNKNOWN_SOURCE = '(unknown)'

export function createCounters(): Counters {
  const bySource = new Map<string, SourceCounters>()
  return {
    bySource,
    commits: 0,
    committed: 0,
    of(source) {
      let counters = bySource.get(source)
      if (!counters) {
        counters = {
          received: 0,
          recorded: 0,
          duplicates: 0,
          conflicts: 0,
          replayed: 0,
          handshakes: 0,
          rejected: Object.create(null) as Record<string, number>,
        }
        bySource.set(source, counters)
      }
      return counters
    },
  }
}

export function countRejected(counters: SourceCounters, reason: string): void {
  counters.rejected[reason] = (counters.rejected[reason] ?? 0) + 1
}
