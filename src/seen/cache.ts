/**
 * The cache step of recording. Entries of `seen` answer a delivery when every event of it is known with the same content and
 * the entries are recent enough: a finished event is trusted for a minute, an unfinished one, which may finish at any
 * moment, for a second. A delivery without such an answer goes to the log.
 */
import { type Clock, timeLimited } from '../clock.js'
import { msOf } from '../duration.js'
import type { Logger } from '../log.js'
import type { EventKey, NewDelivery, RecordVerdict } from '../model.js'
import type { Source } from '../provider.js'
import type { Repeat } from '../store.js'
import { type Seen, type SeenEntry, type SeenKey, seenKeyText } from './seen.js'

export interface SeenCacheDeps {
  readonly seen: Seen
  readonly clock: Clock
  readonly log: Logger
  /** The name of the log changes with a restart or a restore of its database. */
  readLogId(): Promise<string>
  repeated(repeats: readonly Repeat[]): void
}

const TRUST_FINISHED_MS = 60_000
const TRUST_PENDING_MS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000
const RETRY_WINDOW_MS = 3 * DAY_MS
const HORIZON_MS = 90 * DAY_MS
/** Unfinished events are remembered to update `seen` when they finish in this process. */
const MAX_UNFINISHED = 10_000
const MAX_WRITES_UNDER_WAY = 1_000

export class SeenCache {
  readonly counts = { hits: 0, misses: 0, errors: 0 }
  readonly #deps: SeenCacheDeps
  readonly #name: LogName
  readonly #unfinished = new Map<string, { readonly key: SeenKey; readonly entry: SeenEntry }>()
  #writes = 0
  #isFailing = false

  constructor(deps: SeenCacheDeps) {
    this.#deps = deps
    this.#name = new LogName(deps.readLogId)
  }

  /** Null = unknown: the cache is not used. Rarely asks the log. */
  logId(): Promise<string | null> {
    return this.#name.current()
  }

  async ask(log: string, source: Source, delivery: NewDelivery): Promise<RecordVerdict[] | null> {
    const { events } = delivery
    const entries = await this.#entries(log, delivery)
    const now = this.#deps.clock.now()
    const verdicts = events.map(({ contentHash }, i) => judge(source, entries[i], contentHash, now))
    if (verdicts.some((verdict) => verdict === null)) {
      this.counts.misses++
      return null
    }
    this.counts.hits++
    this.#deps.repeated(verdicts.map((verdict) => ({ seq: verdict!.seq, at: now })))
    return verdicts as RecordVerdict[]
  }

  /** Call it after the commit. `log`: its name before the commit. */
  add(log: string, source: Source, delivery: NewDelivery, verdicts: readonly RecordVerdict[]): void {
    const now = this.#deps.clock.now()
    const expiresAt = now + ttlMs(source)
    this.#put(
      verdicts.flatMap((verdict, i) => {
        const { id, contentHash: hash } = delivery.events[i]!
        const state = stateOf(verdict)
        if (hash === null || state === null || !('seq' in verdict)) return []
        const key = { log, source: delivery.source, id }
        const entry = { seq: verdict.seq, hash, state, confirmedAt: now, expiresAt }
        this.#remember(key, entry)
        return [{ key, entry }]
      }),
    )
  }

  settled({ source, id, seq }: EventKey & { readonly seq: number }, state: 'succeeded' | 'ignored'): void {
    const log = this.#name.last
    const text = log === null ? '' : seenKeyText({ log, source, id })
    const found = this.#unfinished.get(text)
    if (found?.entry.seq !== seq) return
    this.#unfinished.delete(text)
    const confirmedAt = this.#deps.clock.now()
    this.#put([{ key: found.key, entry: { ...found.entry, state, confirmedAt } }])
  }

  /** An operator has changed the state of these events. */
  async forget(keys: readonly EventKey[]): Promise<void> {
    const log = await this.#name.current()
    if (log === null) return
    const seenKeys = keys.map(({ source, id }) => ({ log, source, id }))
    for (const key of seenKeys) this.#unfinished.delete(seenKeyText(key))
    this.#put(seenKeys.map((key) => ({ key, entry: null })))
  }

  async #entries(log: string, { source, events }: NewDelivery): Promise<readonly (SeenEntry | null)[]> {
    // Without a hash the content cannot be compared.
    if (events.some((event) => event.contentHash === null)) return []
    try {
      const entries = await this.#deps.seen.get(events.map(({ id }) => ({ log, source, id })))
      this.#isFailing = false
      return entries
    } catch (error) {
      this.#failed(error)
      return []
    }
  }

  #put(entries: { key: SeenKey; entry: SeenEntry | null }[]): void {
    if (entries.length === 0 || this.#writes >= MAX_WRITES_UNDER_WAY) return
    this.#writes++
    this.#deps.seen
      .put(entries)
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#writes--
      })
  }

  #remember(key: SeenKey, entry: SeenEntry): void {
    const text = seenKeyText(key)
    this.#unfinished.delete(text)
    if (entry.state !== 'pending') return
    this.#unfinished.set(text, { key, entry })
    const [oldest] = this.#unfinished.keys()
    if (this.#unfinished.size > MAX_UNFINISHED) this.#unfinished.delete(oldest!)
  }

  #failed(error: unknown): void {
    this.counts.errors++
    if (this.#isFailing) return
    this.#isFailing = true
    const reason = error instanceof Error ? error.name : 'unknown'
    const { log, seen } = this.#deps
    log.warn({ step: 'record', seen: seen.name, reason }, 'seen does not answer: the log is asked instead')
  }
}

/**
 * A name is used this long. A server takes longer to stop and start on a copy of its data. A proxy that is switched to
 * another server may be quicker: until then the answers are those of before the switch.
 */
const NAME_MS = 20
/** A read that failed sends every delivery to the log for this long. */
const NO_NAME_MS = 1_000
/** A delivery that has waited this long for the name goes to the log. */
const NAME_WAIT_MS = 1_000

/** An earlier copy may replace the database at any time, so a name is used for a moment. A burst shares one read. */
class LogName {
  last: string | null = null
  readonly #read: () => Promise<string>
  #until = 0
  #reading: Promise<string | null> | null = null

  constructor(read: () => Promise<string>) {
    this.#read = read
  }

  async current(): Promise<string | null> {
    if (performance.now() < this.#until) return this.last
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readAgain(): Promise<string | null> {
    const startedAt = performance.now()
    try {
      this.last = await timeLimited(this.#read(), NAME_WAIT_MS, () => new Error('the log did not answer'))
      this.#until = startedAt + NAME_MS
    } catch {
      this.last = null
      this.#until = performance.now() + NO_NAME_MS
    }
    return this.last
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

function ttlMs({ retryWindowMs, retention }: Source): number {
  const { events } = retention
  const keptMs = events === 'forever' ? Number.POSITIVE_INFINITY : msOf(events, HORIZON_MS)
  return Math.min(retryWindowMs ?? RETRY_WINDOW_MS, keptMs)
}
