/**
 * The cache step of recording: decides when an entry of `seen` may answer a delivery. It does so only when every event of
 * the delivery is known with the same content, and when the entries are recent enough for the answer to be true: a
 * finished event is trusted for a minute, an unfinished one for a second, because it may finish at any moment. The cache
 * cannot make an event run twice or be lost: a delivery that it does not answer goes to the log.
 */
import type { Clock } from '../clock.js'
import type { Logger } from '../log.js'
import type { EventKey, NewDelivery, RecordVerdict } from '../model.js'
import type { Source } from '../provider.js'
import type { Repeat } from '../store.js'
import { type Seen, type SeenEntry, type SeenKey, seenKeyText } from './seen.js'

export interface SeenCache {
  /** The verdicts if all of them are known; null = ask the log. */
  ask(source: Source, delivery: NewDelivery): Promise<RecordVerdict[] | null>
  /** Stores the verdicts of the log, after the commit. */
  keep(source: Source, delivery: NewDelivery, verdicts: readonly RecordVerdict[]): void
  /** Called when an attempt of this process has finished an event. */
  settled(event: EventKey & { readonly seq: number }, state: 'succeeded' | 'ignored'): void
  /** Removes events whose state an operator has changed. */
  forget(keys: readonly EventKey[]): void
  /** Resolves when the id of the log was read, or reading it has failed. */
  ready(): Promise<void>
  readonly counts: { readonly hits: number; readonly misses: number; readonly errors: number }
}

export interface SeenCacheDeps {
  readonly seen: Seen
  readonly clock: Clock
  readonly log: Logger
  /** Reads the random id that is stored in the log. */
  readLogId(): Promise<string>
  /** Counts duplicates that were answered without the log. */
  repeated(repeats: readonly Repeat[]): void
}

const TRUST_FINISHED_MS = 60_000
const TRUST_PENDING_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000
/** For senders that do not document how long they retry. */
const RETRY_WINDOW_MS = 3 * DAY_MS
const HORIZON_MS = 90 * DAY_MS
/** Unfinished events that are remembered, to update `seen` when they finish in this process. */
const MAX_UNFINISHED = 10_000
const MAX_WRITES_UNDER_WAY = 1_000
const LOG_ID_RETRY_MS = 1_000

export function createSeenCache({ seen, clock, log, readLogId, repeated }: SeenCacheDeps): SeenCache {
  const { logId, ready } = lazyLogId(readLogId)
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
    if (entries.length === 0 || writes >= MAX_WRITES_UNDER_WAY) return
    writes++
    seen
      .put(entries)
      .catch(failed)
      .finally(() => {
        writes--
      })
  }

  function remember(key: SeenKey, entry: SeenEntry): void {
    const text = seenKeyText(key)
    unfinished.delete(text)
    if (entry.state !== 'pending') return
    unfinished.set(text, { key, entry })
    const [oldest] = unfinished.keys()
    if (unfinished.size > MAX_UNFINISHED) unfinished.delete(oldest!)
  }

  return {
    counts,
    ready,
    async ask(source, delivery) {
      const id = logId()
      if (id === null) return null
      const { events } = delivery
      let entries: (SeenEntry | null)[] = []
      try {
        // Without a hash the content cannot be compared.
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
          // A contested id belongs to two events, and only the log can tell them apart.
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
      const text = id === null ? '' : seenKeyText({ log: id, source, eventId })
      const found = unfinished.get(text)
      if (found?.entry.seq !== seq) return
      unfinished.delete(text)
      put([{ key: found.key, entry: { ...found.entry, state, confirmedAt: clock.now() } }])
    },

    forget(keys) {
      const id = logId()
      if (id === null) return
      const seenKeys = keys.map(({ source, eventId }) => ({ log: id, source, eventId }))
      for (const key of seenKeys) unfinished.delete(seenKeyText(key))
      put(seenKeys.map((key) => ({ key, entry: null })))
    },
  }
}

/** The id of the log, read on first use. While it is not known, `seen` is not asked. */
function lazyLogId(read: () => Promise<string>) {
  let id: string | null = null
  let reading: Promise<void> | null = null
  let retryAt = 0

  function ready(): Promise<void> {
    reading ??= read()
      .then(
        (found) => {
          id = found
        },
        () => {
          retryAt = performance.now() + LOG_ID_RETRY_MS
        },
      )
      .finally(() => {
        reading = null
      })
    return reading
  }

  /** Null while it is not known. */
  function logId(): string | null {
    if (id === null && reading === null && performance.now() >= retryAt) void ready()
    return id
  }

  return { logId, ready }
}

function judge(
  source: Source,
  entry: SeenEntry | null | undefined,
  hash: Uint8Array | null,
  now: number,
): Extract<RecordVerdict, { status: 'duplicate' }> | null {
  if (!entry || hash === null || entry.expiresAt <= now || Buffer.compare(entry.hash, hash) !== 0) return null
  const finished = entry.state !== 'pending'
  // Inline mode runs unfinished events, and rearm retries dead letters: both need the log.
  if (!finished && (source.mode === 'inline' || source.rearm)) return null
  const age = now - entry.confirmedAt
  // An entry from the future was written by a host whose clock is ahead: its age is unknown.
  if (age < -TRUST_PENDING_MS || age > (finished ? TRUST_FINISHED_MS : TRUST_PENDING_MS)) return null
  return { status: 'duplicate', seq: entry.seq, state: entry.state, final: finished, equal: true }
}

function stateOf(verdict: RecordVerdict): SeenEntry['state'] | null {
  if (verdict.status === 'recorded') return verdict.state
  if (verdict.status !== 'duplicate' || !verdict.equal) return null
  return verdict.state === 'succeeded' || verdict.state === 'ignored' ? verdict.state : 'pending'
}

/** As long as the sender may retry, and never longer than the log keeps the event. */
function ttlMs({ retryWindowMs, retention }: Source): number {
  return Math.min(retryWindowMs ?? RETRY_WINDOW_MS, retention.eventsMs ?? HORIZON_MS)
}
