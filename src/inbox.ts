/**
 * The inbox: a store, the sources of events, and what can be done with them. Start reading here. `intake/intake.ts` is
 * the path of one delivery, `inbox/recording-path.ts` its way into the log, `processing/attempt.ts` the path of one
 * attempt.
 */

import { atMost, countDown, systemClock } from './clock.js'
import { createCounters } from './counters.js'
import type { Duration } from './duration.js'
import { keyRing } from './encryption/key-ring.js'
import type { Sources } from './inbox/event-types.js'
import { createHistorian } from './inbox/history.js'
import { idleWarning, noIdleWarning } from './inbox/idle-warning.js'
import { lazyStore } from './inbox/lazy-store.js'
import {
  canRetain,
  checkCapabilities,
  checkHandler,
  checkInboxOptions,
  checkSources,
  type InboxOptions,
  inboxLog,
} from './inbox/options.js'
import { inboxProcessing } from './inbox/processing.js'
import { receiver } from './inbox/receiver.js'
import { logCache, recordingPath } from './inbox/recording-path.js'
import type { Inbox, OrderVerb } from './inbox/types.js'
import { createBodyBudget } from './intake/body-budget.js'
import { fetchIntake } from './intake/fetch.js'
import { intakeObserver } from './intake/observer.js'
import { type EarlyRefusal, intakeLimits } from './intake/receive.js'
import { repeatedLines } from './log.js'
import { onceKey } from './once.js'
import { checkedMs } from './options.js'
import { packageVersion } from './package-version.js'
import type { BatchHandler, Handler, HandlerOptions } from './processing/handler.js'
import { DEFAULT_CONCURRENCY, workerName } from './processing/processor.js'
import { createRedactor } from './processing/redact.js'
import { Registry } from './processing/registry.js'
import { eraseAll } from './retention/erase.js'
import { retentionPolicy } from './retention/policy.js'
import { type RetainDeps, retain } from './retention/retain.js'
import { type RetentionSchedule, startSchedule } from './retention/schedule.js'
import { need, type Store } from './store.js'
import { openTelemetry } from './tracing.js'

export type { Inbox, InboxOptions, OrderVerb }

export function createInbox<Tx = unknown, S extends Sources = Sources>(
  options: InboxOptions<Tx, S>,
): Inbox<Tx, S> {
  checkInboxOptions(options)
  const log = inboxLog(options.log)
  const repeats = repeatedLines(log)
  const clock = options.clock ?? systemClock
  const sources = checkSources(options.sources, log)
  checkCapabilities(options)
  const limits = intakeLimits(options.limits)
  const redact = createRedactor(options.redact ?? {}, sources)
  const bodies = createBodyBudget(limits.allBodiesBytes)
  const counters = createCounters()
  const tracing = options.tracing === false ? null : openTelemetry()
  const observer = intakeObserver({ sources, counters, log, repeats })
  const { retry = {}, ...processingOptions } = options.processing || {}
  const registry = new Registry<Tx>(sources, retry)
  const ring = options.encryption && keyRing(options.encryption)
  const settings = options.retention || {}
  const policy = retentionPolicy(settings, sources)

  const store = lazyStore(options, ring, log)
  const cache = options.seen ? logCache({ seen: options.seen, clock, log, store }) : null
  const idle =
    options.processing === false
      ? noIdleWarning
      : idleWarning({ store, sources, log, counters, handled: () => registry.sources() })
  const worker = options.processing === false ? null : (processingOptions.worker ?? workerName())
  const processing = inboxProcessing(
    { store, registry, sources, cache, log, counters, redact, tracing, idle },
    { ...processingOptions, ...(worker !== null && { worker }) },
  )
  const { wake, order } = processing
  const recording = recordingPath({
    ...{ options, recordMs: limits.recordMs, cache, ring, store, clock, log, counters, observer },
    recorded: processing.afterRecord.recorded,
  })
  const { spool } = recording
  const receive = receiver(
    { sources, limits, clock, tracing, observer, recorder: recording, after: processing.afterRecord },
    { store, spool },
  )
  const historian = createHistorian({
    ...{ counters, opened: () => store.opened, open: store.open, worker },
    handled: () => registry.all.map(({ source, pattern }) => ({ source, pattern })),
  })
  // With a spool, the store may open after the start.
  store.onOpen((opened) => historian.changed(opened))
  const startedAt = Date.now()
  let schedule: RetentionSchedule | undefined

  async function start(): Promise<void> {
    const runs = options.processing !== false
    if (runs) await processing.start()
    spool?.start()
    try {
      await store.open()
    } catch (error) {
      // A process with a spool can receive without the store. Handlers start when the store is open.
      if (!spool?.covers(error)) throw error
    }
    if (store.opened) await cache?.log()
    await historian.start()
    if (options.retention !== false && canRetain(options.store) && !store.refuses)
      schedule ??= startSchedule(retainDeps, { log, counters })
  }

  async function stop({ deadline }: { deadline?: Duration } = {}): Promise<void> {
    const deadlineMs = checkedMs('stop({ deadline })', deadline, '10s')
    if (store.refuses) return
    store.refuse()
    const left = countDown(deadlineMs)
    // Waited for last: it may be writing to a slow archive, and handlers need the time.
    const retentionEnded = schedule?.stop() ?? Promise.resolve()
    // Accepted deliveries get at least a second to be recorded and answered, however short the deadline is.
    await atMost(Math.max(1_000, left()), recording.drained())
    repeats.flush()
    await spool?.stop(left())
    await store.close(left, async () => {
      await Promise.all([processing.stop(left()), atMost(left(), retentionEnded)])
      await atMost(Math.max(100, Math.min(1_000, left())), historian.stop())
    })
  }

  async function retainDeps(): Promise<RetainDeps> {
    return { store: await store.open(), policy, settings, log, counters }
  }

  /** The store after a flush, so that the number of deliveries includes the duplicates this process has seen. */
  async function flushed(): Promise<Store<Tx>> {
    const opened = await store.open()
    await opened.duplicates?.flush().catch(() => {}) // written later; the rest can be read now
    return opened
  }

  function handlersChanged(): void {
    wake()
    void historian.changed()
  }

  const refused = (source: string | null, refusal: EarlyRefusal) => observer.refusedEarly(source, refusal)

  const inbox: Inbox<Tx, S> = {
    receive,
    refused,
    fetch: (request) => fetchIntake({ receive, refused, limits, bodies }, request),
    on(source, type, handler, handlerOptions = {}) {
      checkHandler(options.store, handlerOptions)
      registry.add(source, type, handler as Handler<Tx>, handlerOptions as HandlerOptions)
      handlersChanged()
      return inbox
    },
    onBatch(source, type, handler, handlerOptions = {}) {
      checkHandler(options.store, handlerOptions)
      registry.addBatch(source, type, handler as BatchHandler<Tx>, handlerOptions as HandlerOptions)
      handlersChanged()
      return inbox
    },
    start,
    stop,
    [Symbol.asyncDispose]: () => stop(),
    drain: async () => (await processing.processor()).drain(),
    process: async (source, eventId) => (await processing.processor()).processEvent({ source, eventId }),
    pause: (source, type) => registry.pause(source, type),
    resume(source, type) {
      registry.resume(source, type)
      wake()
    },
    handled: (source) =>
      registry.all.filter((handler) => handler.source === source).map((handler) => handler.pattern),
    once: async (key, fn, onceOptions) =>
      onceKey(need(await store.open(), 'keys', 'inbox.once'), key, fn, onceOptions),
    events: {
      get: async (key) => (await flushed()).get(key),
      list: async (filter = {}, page) => (await flushed()).list(filter, page),
      payload: async (key) => need(await store.open(), 'inspect', 'inbox.events.payload').payload(key),
      attempts: async (key) => need(await store.open(), 'inspect', 'inbox.events.attempts').attempts(key),
      stats: async () => (await store.open()).stats(),
      tail: async (tailOptions) => (await store.open()).tail(tailOptions),
      audits: async (filter = {}, page) =>
        need(await store.open(), 'audit', 'inbox.events.audits').list(filter, page),
    },
    retry: order('retry'),
    replay: order('replay'),
    ignore: order('ignore'),
    retain: async (retainOptions) => retain(await retainDeps(), retainOptions),
    erase: async (eraseOptions) => eraseAll(await store.open(), eraseOptions),
    sources,
    limits,
    bodies,
    counters,
    spool: spool && { status: spool.status, hasRoom: spool.hasRoom, retrySetAside: spool.retrySetAside },
    attempts: {
      retryOf: (source, type) => registry.retryOf(source, type),
      redact,
      workerAsked: historian.workerAsked,
    },
    handlers: () =>
      registry.all.map(({ source, pattern, handleBatch, options: own, retry, ...state }) => ({
        ...{ source, pattern, batch: handleBatch !== null, options: own, retry },
        ...{ paused: state.paused, sourcePaused: registry.pausedSources.has(source) },
        ...{ active: state.active, counters: state.counters },
      })),
    history: { id: historian.id, read: historian.read, processes: historian.processes },
    setup: {
      ...{ startedAt, version: packageVersion(), worker },
      concurrency: processingOptions.concurrency ?? DEFAULT_CONCURRENCY,
      retention: options.retention === false ? null : policy,
      archive: settings.archive !== undefined,
      encryption: ring !== undefined,
      seen: options.seen?.name ?? null,
    },
    async recordCopy(delivery) {
      const [verdicts] = await (await store.open()).record([delivery])
      wake()
      return verdicts![0]!
    },
    log,
    store: store.open,
  }
  return inbox
}
