/**
 * Events of the log that the sender does not list: forged with a stolen secret, of another account or mode, or the key is that
 * of another account. They are reported and never removed. The log knows when an event came, and the sender when it happened:
 * one that came late belongs to an earlier window. Where the sender can be asked for an id, it decides; else an event is judged
 * only when it cannot have come late.
 */

import { limits } from '../model.js'
import type { ListRange, ListReader, Source } from '../provider.js'
import type { Store } from '../store.js'
import type { Tally } from './report.js'

const MAX_CANDIDATES = 10_000
/** Requests to the sender. With more candidates, the key is most likely that of another account. */
const MAX_ASKED = 100
/** Clocks that differ, and the time of a delivery. */
const MARGIN_MS = 15 * 60_000
const DEFAULT_LATE_MS = 3 * 86_400_000

export interface Candidate {
  readonly id: string
  readonly type: string
  readonly receivedAt: number
}

/** Events that were delivered in this time and that no part of the list has named so far. */
export async function candidatesIn(
  store: Store,
  source: string,
  { since, until }: ListRange,
  seen: ReadonlySet<string>,
  most: number,
): Promise<Candidate[]> {
  const found: Candidate[] = []
  for (let cursor: string | null = null; ; ) {
    const page = await store.list({ source, from: since, to: until }, { limit: limits.listPage, cursor })
    for (const { id, type, receivedAt, origin } of page.events)
      if (origin === 'delivery' && !seen.has(id)) found.push({ id, type, receivedAt })
    cursor = page.next
    if (cursor === null || found.length >= most) return found.slice(0, most)
  }
}

export class Extras {
  readonly #candidates: Candidate[] = []

  async look(store: Store, source: string, range: ListRange, seen: ReadonlySet<string>): Promise<void> {
    const room = MAX_CANDIDATES - this.#candidates.length
    if (room > 0) this.#candidates.push(...(await candidatesIn(store, source, range, seen, room)))
  }

  async judge(
    source: Source,
    reader: ListReader,
    { since, until }: ListRange,
    seen: ReadonlySet<string>,
    tally: Tally,
  ): Promise<void> {
    const { knowsIds, of } = source.list!
    const lateMs = of === 'deliveries' ? MARGIN_MS : (source.retryWindowMs ?? DEFAULT_LATE_MS)
    let asked = 0
    for (const { id, type, receivedAt } of this.#candidates) {
      if (seen.has(id)) continue
      if (knowsIds && asked++ < MAX_ASKED) {
        if (await reader.has(id)) continue
      } else if (!knowsIds && (receivedAt < since + lateMs || receivedAt > until - MARGIN_MS)) continue
      tally.extra(id, type)
    }
  }
}
