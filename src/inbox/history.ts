/**
 * The history of an inbox: the growth of its counters is added to the log every few seconds. So the counts of all processes
 * add up and survive a restart; a crash loses a few seconds of counts, never an event. Each write also says what this process
 * handles, so others leave it those events.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Counters, Histogram } from '../counters.js'
import { packageVersion } from '../package-version.js'
import { DISTRIBUTION, LOG_ITSELF } from '../store/history.js'
import {
  type HandledTypes,
  type HistoryCount,
  type HistoryRange,
  type HistoryReport,
  need,
  type ProcessFacts,
  type ProcessSeen,
  type Store,
} from '../store.js'
import type { LazyStore } from './lazy-store.js'

export interface InboxHistory {
  /** Sums of all processes of the log, with the counts of this one up to now. */
  read(range: HistoryRange): Promise<HistoryReport>
  processes(): Promise<ProcessSeen[]>
  readonly id: string
  /** What this process would write about itself now. */
  own(): ProcessFacts
}

export interface Historian extends InboxHistory {
  /** Writes what this process handles, and then its counts every few seconds. Never throws. */
  start(): Promise<void>
  /** The handlers have changed, or `store` was opened now. Writes only after `start`. Never throws. */
  changed(store?: Store): Promise<void>
  /** A worker of the worker API asks for events of these sources. Resolves when the others know it. */
  workerAsked(sources: readonly string[]): Promise<void>
  /** Writes the last counts, and that this process handles nothing more. Never throws. */
  stop(): Promise<void>
}

interface HistorianDeps {
  readonly counters: Counters
  readonly store: Pick<LazyStore, 'open' | 'opened'>
  /** Null when this process runs no handlers. */
  readonly worker: string | null
  readonly handled: () => readonly HandledTypes[]
  readonly state: () => Pick<ProcessFacts, 'places' | 'circuits' | 'separators'>
}

const EVERY_MS = 10_000
/** A worker that asks for nothing for this long counts as gone. One that is busy does not ask. */
const WORKER_MS = 120_000
/** At least once in each hour. */
const ALIVE_MS = 20 * 60_000
/** Readings write what has grown, but not more often: each write is a commit with a sync. */
const BEFORE_READING_MS = 1_000

export function partName(measure: 'ack' | 'handle', i: number): string {
  return `~${measure} ${i}`
}

export function createHistorian({ counters, store: lazy, worker, handled, state }: HistorianDeps): Historian {
  const id = randomUUID()
  const facts = {
    id,
    version: packageVersion() ?? 'unknown',
    node: process.versions.node,
    host: hostname(),
    pid: process.pid,
    worker,
  }
  let written = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  let aliveAt = Number.NEGATIVE_INFINITY
  /** A worker of the worker API last asked for events of a source at this time. */
  const askedAt = new Map<string, number>()

  function handles(): HandledTypes[] {
    const asked = [...askedAt].filter(([, at]) => performance.now() - at < WORKER_MS)
    const byWorkers = asked.map(([source]) => ({ source, pattern: '*' }))
    return timer !== undefined && worker !== null ? [...handled(), ...byWorkers] : byWorkers
  }

  function own(): ProcessFacts {
    return { ...facts, handles: handles(), ...state() }
  }

  function grown(): { counts: HistoryCount[]; now: Map<string, number> } {
    const now = new Map<string, number>()
    const counts: HistoryCount[] = []
    for (const [source, name, total] of totalsOf(counters)) {
      const key = `${source}\0${name}`
      now.set(key, total)
      const value = total - (written.get(key) ?? 0)
      if (value > 0) counts.push({ source, name, value })
    }
    return { counts, now }
  }

  async function write(store: Store): Promise<void> {
    const { counts, now } = grown()
    const startedAt = performance.now()
    const saysAlive = timer !== undefined && startedAt - aliveAt >= ALIVE_MS
    await need(store, 'history', 'the history of the inbox').add({
      counts: saysAlive ? [...counts, { source: LOG_ITSELF, name: 'alive', value: 1 }] : counts,
      process: own(),
    })
    written = now
    writtenAt = performance.now()
    if (saysAlive) aliveAt = startedAt
  }

  /** One write at a time: two would add the same growth twice. */
  function flush(store: Store): Promise<void> {
    writing ??= write(store).finally(() => {
      writing = undefined
    })
    return writing
  }

  /** Growth since the last write, as cells of a report. */
  function unwritten({ from, to, stepMs }: HistoryRange, now: number): HistoryReport['cells'] {
    if (now < from || now >= to) return []
    const bucket = now - ((now - from) % stepMs)
    return grown().counts.map((count) => ({
      ...count,
      at: count.name.startsWith(DISTRIBUTION) ? from : bucket,
    }))
  }

  async function tick(store = lazy.opened): Promise<void> {
    if (store?.history) await flush(store).catch(() => {})
  }

  /** A write that is under way may have begun before the change. */
  async function publish(store = lazy.opened): Promise<void> {
    await writing?.catch(() => {})
    await tick(store)
  }

  return {
    id,
    own,
    async start() {
      timer ??= setInterval(() => void tick(), EVERY_MS).unref()
      await publish()
    },
    async changed(store) {
      if (timer !== undefined) await publish(store)
    },
    async workerAsked(sources) {
      if (sources.length === 0) return
      const now = performance.now()
      const isNew = sources.some(
        (source) => now - (askedAt.get(source) ?? Number.NEGATIVE_INFINITY) > WORKER_MS,
      )
      for (const source of sources) askedAt.set(source, now)
      // The worker may be away for a while: its events must wait then.
      if (isNew) await lazy.opened?.consumers?.open(sources.map((source) => ({ source, from: 'now' })))
      if (isNew || now - writtenAt > EVERY_MS) await publish()
    },
    async stop() {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      askedAt.clear()
      await publish()
    },
    async read(range) {
      const store = await lazy.open()
      const history = need(store, 'history', 'inbox.history')
      if (writing || performance.now() - writtenAt >= BEFORE_READING_MS) await flush(store).catch(() => {}) // a store that cannot be written to can still be read
      const report = await history.read(range)
      return { ...report, cells: [...report.cells, ...unwritten(range, report.now)] }
    },
    async processes() {
      const store = await lazy.open()
      return need(store, 'history', 'inbox.history').processes()
    },
  }
}

function* totalsOf({ bySource }: Counters): Generator<[source: string, name: string, total: number]> {
  for (const [source, own] of bySource) {
    const { attempts, rejected } = own
    yield [source, 'received', own.received]
    yield [source, 'recorded', own.recorded]
    yield [source, 'duplicates', own.duplicates]
    yield [source, 'conflicts', own.conflicts]
    yield [source, 'flagged', own.flagged + own.replayed]
    yield [source, 'succeeded', attempts.succeeded]
    yield [source, 'ignored', attempts.ignored]
    yield [source, 'failed', attempts.failed]
    yield [source, 'lost', attempts.lost]
    yield [source, 'dead', own.deadLetters]
    for (const [reason, count] of Object.entries(rejected)) yield [source, `rejected ${reason}`, count]
    yield* partsOf(source, 'ack', own.ackSeconds)
    yield* partsOf(source, 'handle', own.handlerSeconds)
  }
}

function* partsOf(
  source: string,
  measure: 'ack' | 'handle',
  { counts }: Histogram,
): Generator<[string, string, number]> {
  for (const [i, count] of counts.entries()) if (count > 0) yield [source, partName(measure, i), count]
}
