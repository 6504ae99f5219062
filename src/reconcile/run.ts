/**
 * The spine of reconcile: one comparison of the log with the sender's own list.
 *
 *   window    which time is compared, at most what sender and log still know (`window.ts`)
 *   expect    which of the listed events this endpoint gets (`expected.ts`)
 *   compare   part after part: read the list, ask the log which events it has
 *   recover   record those that it lacks, or ask the sender to deliver them again (`recover.ts`)
 *   wait      for what was asked to be delivered again
 *   extra     events of the log that the sender does not list (`extra.ts`)
 *   report    written to the log after each part, so that a run whose process dies can be continued (`report.ts`)
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, isHookonceError } from '../errors.js'
import { handlesType } from '../glob.js'
import { limits } from '../model.js'
import type { ListedEvent, ListRange, ListReader, Source } from '../provider.js'
import { type HandledTypes, need, type Store } from '../store.js'
import { type Expected, expectedOf } from './expected.js'
import { Extras } from './extra.js'
import { type RecoverDeps, recover } from './recover.js'
import { provesOf, type ReconcileReport, Tally } from './report.js'
import { Parts } from './window.js'

export interface RunDeps extends Pick<RecoverDeps, 'laneOf' | 'recorded'> {
  readonly store: Store
  readonly name: string
  readonly source: Source
  /** The types that handlers of this source take, in any process, consumers included. */
  readonly handled: () => Promise<readonly HandledTypes[]>
}

export interface Progress {
  readonly listed: number
  readonly missing: number
  readonly comparedUntil: number
}

export interface RunOptions {
  readonly id: string
  readonly by: ReconcileReport['by']
  readonly range: ListRange
  readonly dryRun: boolean
  readonly startedAt: number
  readonly notBefore: number | null
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** Throws when another process may have taken over. */
  readonly insist: () => Promise<void>
  /** How long a requested delivery may take. Default 30 seconds; after that the next run looks. */
  readonly waitMs?: number
  /** Time between two writes of the report of a run that a person asked for. Default `RENEW_MS`. */
  readonly renewMs?: number
  /** A run whose process has died. */
  readonly resume?: ReconcileReport
}

/** Missing events of a part that are held in memory. */
const MAX_HELD_BYTES = 64 * 1024 * 1024
const WAIT_MS = 30_000
const WAIT_STEP_MS = 500
/** Readers take a report that was not written for three times as long for one whose process has died. */
export const RENEW_MS = 15_000

export async function runReconcile(deps: RunDeps, options: RunOptions): Promise<ReconcileReport> {
  const run = new Run(deps, options)
  try {
    return await run.all()
  } catch (error) {
    throw await run.failed(error)
  }
}

class Run {
  readonly #deps: RunDeps
  readonly #options: RunOptions
  readonly #reader: ListReader
  readonly #parts: Parts
  /** Every id that the sender has listed. */
  readonly #seen = new Set<string>()
  readonly #extras = new Extras()
  readonly #waiting: ListedEvent[] = []
  #tally: Tally
  #expected: Expected | null = null
  /** Recorded by this run before its process died, and not in a report yet. */
  #unreported: ReadonlySet<string> = new Set()
  #renewal: NodeJS.Timeout | undefined
  /** One write after the other: a late renewal would make a finished run a running one. */
  #written: Promise<unknown> = Promise.resolve()

  constructor(deps: RunDeps, options: RunOptions) {
    this.#deps = deps
    this.#options = options
    const { list } = deps.source
    this.#reader = list!.open({ signal: options.signal })
    const { resume, range } = options
    this.#parts = new Parts({ ...range, since: resume?.comparedUntil ?? range.since }, list!.byTime)
    this.#tally = resume ? Tally.of(resume) : new Tally()
  }

  async all(): Promise<ReconcileReport> {
    const { store, name, source } = this.#deps
    await this.#note('running')
    this.#renew()
    const handled = await this.#deps.handled()
    this.#expected = await expectedOf(store, name, source, this.#reader, handled)
    if (this.#options.resume) this.#unreported = await this.#recordedSince(this.#options.startedAt)
    for (let range = this.#parts.next(); range !== null; range = this.#parts.next()) {
      await this.#part(range, handled)
      await this.#options.insist()
      await this.#note('running')
    }
    await this.#await()
    await this.#extras.judge(source, this.#reader, this.#options.range, this.#seen, this.#tally)
    // After a long pause, another process may have continued this run.
    await this.#options.insist()
    return this.#note('complete')
  }

  async failed(error: unknown): Promise<unknown> {
    const { by, signal } = this.#options
    const stopped = signal.aborted
    // The process stops, or was frozen and has lost its lease: another one continues the run, and writes its report.
    if (by === 'schedule' && (stopped || isHookonceError(error, 'KEY_LOST'))) return error
    const text = stopped ? 'It was stopped.' : isHookonceError(error) ? error.message : codeOf(error)
    await this.#note('failed', this.#deps.source.conceal?.(text) ?? text).catch(() => {})
    return error
  }

  /** Reads a part again in shorter ones when its missing events are too many to hold. */
  async #part(range: ListRange, handled: readonly HandledTypes[]): Promise<void> {
    const { signal } = this.#options
    const tally = new Tally()
    const seen = new Set<string>()
    const missing: ListedEvent[] = []
    let [held, pages] = [0, 0]
    for await (const page of this.#reader.pages(range)) {
      signal.throwIfAborted()
      pages += 1
      for (const event of await this.#compare(page, seen, tally)) {
        held += event.delivery?.body.byteLength ?? 0
        missing.push(event)
      }
      this.#progress(tally)
      if (held > MAX_HELD_BYTES && this.#parts.shorten(range)) return
    }
    for (const id of seen) this.#seen.add(id)
    await this.#recover(missing, tally, handled)
    this.#tally.add(tally)
    this.#parts.finished(range, pages)
    await this.#extras.look(this.#deps.store, this.#deps.name, range, this.#seen)
  }

  /** Returns the events that the log lacks. */
  async #compare(page: readonly ListedEvent[], seen: Set<string>, tally: Tally): Promise<ListedEvent[]> {
    const expected: ListedEvent[] = []
    for (const event of page) {
      if (seen.has(event.id) || this.#seen.has(event.id)) continue
      seen.add(event.id)
      if (this.#expected!.has(event)) expected.push(event)
      else tally.unsubscribed += 1
    }
    const missing: ListedEvent[] = []
    for (let i = 0; i < expected.length; i += limits.recordBatch) {
      const events = expected.slice(i, i + limits.recordBatch)
      const known = await this.#known(events)
      for (const [k, event] of events.entries()) {
        tally.count('listed', event.type)
        if (!known[k]) missing.push(event)
        else if (this.#unreported.has(event.id)) tally.recovered(event.type)
        else tally.count('known', event.type)
      }
    }
    return missing
  }

  #known(events: readonly ListedEvent[]): Promise<boolean[]> {
    const { store, name: source } = this.#deps
    return need(store, 'imports', 'reconcile').known(events.map(({ id }) => ({ source, id })))
  }

  async #recordedSince(from: number): Promise<Set<string>> {
    const { store, name: source } = this.#deps
    const ids = new Set<string>()
    for (let cursor: string | null = null; ; ) {
      const page = await store.list({ source, from }, { limit: limits.listPage, cursor })
      for (const { id, origin } of page.events) if (origin === 'backfill') ids.add(id)
      cursor = page.next
      if (cursor === null) return ids
    }
  }

  async #recover(
    missing: readonly ListedEvent[],
    tally: Tally,
    handled: readonly HandledTypes[],
  ): Promise<void> {
    if (this.#options.dryRun) {
      for (const { id, type, occurredAt } of missing) {
        tally.count('missing', type)
        tally.lacks({ id, type, occurredAt, why: 'a dry run records nothing' })
      }
      return
    }
    const { typeSeparator } = this.#deps.source
    // Where nobody handles anything, the log itself is what is wanted.
    const isHandled = (type: string) =>
      handled.length === 0 || handled.some(({ pattern }) => handlesType(pattern, type, typeSeparator))
    this.#waiting.push(...(await recover({ ...this.#deps, reader: this.#reader, isHandled }, missing, tally)))
  }

  /** Events that were asked for arrive as deliveries, with their signature. */
  async #await(): Promise<void> {
    let left = this.#waiting.splice(0)
    const { signal, waitMs = WAIT_MS } = this.#options
    const until = performance.now() + waitMs
    for (;;) {
      const known = await this.#known(left)
      for (const [i, { type }] of left.entries()) if (known[i]) this.#tally.recovered(type)
      left = left.filter((_, i) => !known[i])
      if (left.length === 0 || performance.now() > until) break
      await sleep(Math.min(waitMs, WAIT_STEP_MS), undefined, { signal })
    }
    for (const { id, type, occurredAt } of left) {
      this.#tally.count('missing', type)
      this.#tally.count('waiting', type)
      this.#tally.lacks({ id, type, occurredAt, why: 'the sender was asked to deliver it again' })
    }
  }

  #progress(part: Tally): void {
    const { listed, missing } = this.#tally.counts
    this.#options.onProgress?.({
      listed: listed + part.counts.listed,
      missing: missing + part.counts.listed - part.counts.known,
      comparedUntil: this.#parts.at,
    })
  }

  /** A part may take longer than readers wait for a report. The schedule needs no renewal: it continues its runs. */
  #renew(): void {
    const { by, renewMs = RENEW_MS } = this.#options
    if (by === 'schedule') return
    this.#renewal = setInterval(() => {
      this.#note('running').catch(() => {}) // the next one tries again
    }, renewMs)
    this.#renewal.unref()
  }

  async #note(state: ReconcileReport['state'], error: string | null = null): Promise<ReconcileReport> {
    if (state !== 'running') clearInterval(this.#renewal)
    const { store, name, source } = this.#deps
    const { id, by, range, dryRun, startedAt, notBefore, resume } = this.#options
    const tally = this.#tally
    const comparedUntil = this.#parts.at
    // What was asked for and has not arrived is still missing.
    const waitingSince = Math.min(...this.#waiting.map(({ occurredAt }) => occurredAt))
    const report: ReconcileReport = {
      ...{ id, source: name, state, dryRun, by, since: range.since, until: range.until, comparedUntil },
      completeUntil: Math.min(comparedUntil, tally.lackingSince, waitingSince),
      notBefore,
      startedAt,
      finishedAt: state === 'running' ? null : await store.ping(),
      ...tally.counts,
      unsubscribed: tally.unsubscribed,
      types: Object.fromEntries(tally.types),
      lacking: tally.lacking,
      extras: tally.extras,
      requests: this.#reader.requests + (resume?.requests ?? 0),
      disabled: this.#expected?.scope?.disabled === true,
      error,
      proves: provesOf(source.name, source.list!),
    }
    if (dryRun) return report
    const write = () =>
      need(store, 'reconciles', 'reconcile').note({ id, source: name, report: JSON.stringify(report) })
    const written = this.#written.then(write)
    this.#written = written.catch(() => {})
    await written
    return report
  }
}
