/**
 * What intake asks of `seen`, and what it tells it. A duplicate is answered without the log only when every event of
 * the delivery is known with the same content, and when what is known is recent enough for the words of the answer:
 * an event that has finished may be believed for a minute, one that has not for a second, because it may finish at any
 * moment. Nothing here can make an event run twice or not at all: what is not answered goes to the log.
 */
import type { Clock } from '../clock.js'
import type { Logger } from '../log.js'
import type { EventKey, NewDelivery, RecordVerdict, Repeat } from '../model.js'
import type { Source } from '../provider.js'
import { nameOf } from './lru.js'
import type { Seen, SeenEntry, SeenKey } from './seen.js'

export interface Recall {
  /** The verdicts, when they are known without the log; null = ask it. */
  ask(source: Source, delivery: NewDelivery): Promise<RecordVerdict[] | null>
  /** What the log has said, after its commit. */
  keep(source: Source, delivery: NewDelivery, verdicts: readonly RecordVerdict[]): void
  /** A handler of this process has finished with an event. */
  settled(event: EventKey & { readonly seq: number }, state: 'succeeded' | 'ignored'): void
  /** An operator has moved these: whatever is known about them is out of date. */
  forget(keys: readonly EventKey[]): void
  readonly counts: { readonly hits: number; readonly misses: number; readonly errors: number }
}

export interface RecallParts {
  readonly seen: Seen
  readonly clock: Clock
  readonly log: Logger
  /** The identity of the log; null while it is not known. */
  logId(): string | null
  /** Counts duplicates the log has not heard of. */
  repeated(repeats: readonly Repeat[]): void
}

const TRUST_FINISHED_MS = 60_000
const TRUST_PENDING_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000
/** Where a sender does not say how long it retries. */
const RETRY_WINDOW_MS = 3 * DAY_MS
const HORIZON_MS = 90 * DAY_MS
/** Events of this process that may still finish here. */
const OPEN_EVENTS = 10_000
const WRITES_UNDER_WAY = 1_000

export function createRecall({ seen, clock, log, logId, repeated }: RecallParts): Recall {
  const counts = { hits: 0, misses: 0, errors: 0 }
  const unfinished = new Map<string, { readonly key: SeenKey; readonly entry: SeenEntry }>()
  let writes = 0
  let failing = false

  function failed(error: unknown): void {
    counts.errors++
    if (failing) return
    failing = true
    const reason = error instanceof Error ? error.name : 'unknown'
    log.warn({ step: 'record', seen: seen.name, reason }, 'seen does not answer: the log is asked instead')
  }

  function put(entries: { key: SeenKey; entry: SeenEntry | null }[]): void {
    if (entries.length === 0 || writes >= WRITES_UNDER_WAY) return
    writes++
    seen
      .put(entries)
      .catch(failed)
      .finally(() => {
        writes--
      })
  }

  function remember(key: SeenKey, entry: SeenEntry): void {
    const name = nameOf(key)
    unfinished.delete(name)
    if (entry.state !== 'pending') return
    unfinished.set(name, { key, entry })
    const [oldest] = unfinished.keys()
    if (unfinished.size > OPEN_EVENTS) unfinished.delete(oldest!)
  }

  return {
    counts,
    async ask(source, delivery) {
      const id = logId()
      if (id === null) return null
      const { events } = delivery
      let entries: (SeenEntry | null)[] = []
      try {
        // Without a hash nobody can say whether the content is the same.
        if (events.every((event) => event.contentHash !== null)) {
          entries = await seen.get(
            events.map(({ eventId }) => ({ log: id, source: delivery.source, eventId })),
          )
          failing = false
        }
      } catch (error) {
        failed(error)
      }
      const now = clock.now()
      const verdicts = events.map(({ contentHash }, i) => judge(source, entries[i], contentHash, now))
      if (verdicts.some((verdict) => verdict === null)) {
        counts.misses++
        return null
      }
      counts.hits++
      repeated(verdicts.map((verdict) => ({ seq: verdict!.seq, at: now })))
      return verdicts as RecordVerdict[]
    },

    keep(source, delivery, verdicts) {
      const id = logId()
      if (id === null) return
      const now = clock.now()
      const expiresAt = now + ttlMs(source)
      put(
        verdicts.flatMap((verdict, i) => {
          const { eventId, contentHash: hash } = delivery.events[i]!
          const state = stateOf(verdict)
          if (hash === null || state === null || !('seq' in verdict)) return []
          // Its id is contested: two events came under it, and only the log tells them apart.
          if (verdict.storedAs !== undefined) return []
          const key = { log: id, source: delivery.source, eventId }
          const entry = { seq: verdict.seq, hash, state, confirmedAt: now, expiresAt }
          remember(key, entry)
          return [{ key, entry }]
        }),
      )
    },

    settled({ source, eventId, seq }, state) {
      const id = logId()
      const name = id === null ? '' : nameOf({ log: id, source, eventId })
      const found = unfinished.get(name)
      if (found?.entry.seq !== seq) return
      unfinished.delete(name)
      put([{ key: found.key, entry: { ...found.entry, state, confirmedAt: clock.now() } }])
    },

    forget(keys) {
      const id = logId()
      if (id === null) return
      const names = keys.map(({ source, eventId }) => ({ log: id, source, eventId }))
      for (const key of names) unfinished.delete(nameOf(key))
      put(names.map((key) => ({ key, entry: null })))
    },
  }
}

function judge(
  source: Source,
  entry: SeenEntry | null | undefined,
  hash: Uint8Array | null,
  now: number,
): Extract<RecordVerdict, { status: 'duplicate' }> | null {
  if (!entry || hash === null || entry.expiresAt <= now || Buffer.compare(entry.hash, hash) !== 0) return null
  const finished = entry.state !== 'pending'
  // Inline mode runs what has not finished, and rearm gives dead letters a new start: both need the log.
  if (!finished && (source.mode === 'inline' || source.rearm)) return null
  const age = now - entry.confirmedAt
  // From the future: another host's clock is ahead, and nobody knows how old it is.
  if (age < -TRUST_PENDING_MS || age > (finished ? TRUST_FINISHED_MS : TRUST_PENDING_MS)) return null
  return { status: 'duplicate', seq: entry.seq, state: entry.state, final: finished, equal: true }
}

function stateOf(verdict: RecordVerdict): SeenEntry['state'] | null {
  if (verdict.status === 'recorded') return verdict.state
  if (verdict.status !== 'duplicate' || !verdict.equal) return null
  return verdict.state === 'succeeded' || verdict.state === 'ignored' ? verdict.state : 'pending'
}

/** As long as the sender may come back, and never longer than the log remembers. */
function ttlMs({ retryWindowMs, retention }: Source): number {
  return Math.min(retryWindowMs ?? RETRY_WINDOW_MS, retention.eventsMs ?? HORIZON_MS)
}
