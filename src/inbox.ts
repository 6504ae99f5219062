/**
 * Start reading here. An inbox is a store, the sources of events, and what can be done with them. `intake/intake.ts` is the
 * path of one delivery, `inbox/recording-path.ts` its way into the log, `processing/attempt.ts` the path of one attempt.
 */

import { atMost, countDown } from './clock.js'
import type { Duration } from './duration.js'
import { inboxBase } from './inbox/base.js'
import { inboxIntake } from './inbox/entrance.js'
import type { Sources } from './inbox/event-types.js'
import { inboxInternals } from './inbox/internals.js'
import { checkHandler, checkInboxOptions, type InboxOptions } from './inbox/options.js'
import { changePause, listPauses } from './inbox/pauses.js'
import { inboxProcessing } from './inbox/processing.js'
import { inboxReconciling } from './inbox/reconciling.js'
import type { ActionMethod, Inbox } from './inbox/types.js'
import { inboxUpkeep } from './inbox/upkeep.js'
import { onceKey } from './once.js'
import { checkedMs } from './options.js'
import type { BatchHandler, Handler, HandlerOptions } from './processing/handler.js'
import { waitingOf } from './processing/waiting.js'
import { need, type Store } from './store.js'

export type { ActionMethod, Inbox, InboxOptions }

export function createInbox<Tx = unknown, S extends Sources = Sources>(
  options: InboxOptions<Tx, S>,
): Inbox<Tx, S> {
  checkInboxOptions(options)
  const base = inboxBase<Tx>(options)
  const processing = inboxProcessing(base)
  const intake = inboxIntake(base, processing)
  const upkeep = inboxUpkeep(base, processing)
  const reconciling = inboxReconciling(base, processing, upkeep.policy)
  const { store, registry } = base
  const { spool } = intake
  const { historian } = upkeep

  let started = false
  async function start(): Promise<void> {
    started = true
    try {
      await store.open()
    } catch (error) {
      // A process with a spool can receive without the store. Handlers start when the store is open.
      if (!spool?.takeOver(error)) throw error
    }
    // After an error nothing runs.
    spool?.start()
    await processing.start()
    if (store.opened) await base.cache?.logId()
    await upkeep.start()
    reconciling.start()
  }

  let stopping: Promise<void> | undefined
  /** A second call waits for the first. */
  async function stop({ deadline }: { deadline?: Duration } = {}): Promise<void> {
    const deadlineMs = checkedMs('stop({ deadline })', deadline, '10s')
    stopping ??= stopWithin(deadlineMs)
    return stopping
  }

  async function stopWithin(deadlineMs: number): Promise<void> {
    store.refuse()
    const left = countDown(deadlineMs)
    // First, because the steps before `processing.stop` may use the whole deadline.
    processing.stopClaiming()
    upkeep.watch.stop()
    // Waited for beside the handlers: it may be writing to a slow archive.
    const upkeepEnded = Promise.all([upkeep.stopRetention(), reconciling.stop()])
    // Deliveries that wait for a commit get at least a second, however short the deadline is. One that is still being
    // verified then is not recorded, and its answer is 503.
    await atMost(Math.max(1_000, left()), intake.idle())
    base.repeats.flush()
    await spool?.stop(left())
    await store.close(left, async () => {
      await Promise.all([processing.stop(left()), atMost(left(), upkeepEnded)])
      await atMost(Math.max(100, Math.min(1_000, left())), historian.stop())
    })
  }

  /** After a flush, the number of deliveries includes the duplicates this process has seen. */
  async function flushed(): Promise<Store<Tx>> {
    const opened = await store.open()
    await opened.duplicates?.flush().catch(() => {}) // written later; the rest can be read now
    return opened
  }

  function handlersChanged(): void {
    void processing.handlersChanged()
    void historian.changed()
  }

  const inbox: Inbox<Tx, S> = {
    receive: intake.receive,
    fetch: intake.fetch,
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
    drain: processing.drain,
    process: (source, eventId) => processing.process({ source, id: eventId }),
    pause: (source, type, by) => changePause(base, 'pause', { ...by, source, type }),
    resume: (source, type, by) => changePause(base, 'resume', { ...by, source, type }),
    pauses: () => listPauses(base),
    once: async (key, fn, onceOptions) =>
      onceKey(need(await store.open(), 'keys', 'inbox.once'), key, fn, onceOptions),
    events: {
      get: async (key) => (await flushed()).get(key),
      list: async (filter = {}, page) => (await flushed()).list(filter, page),
      waiting: async (events) =>
        waitingOf(await store.open(), events, { sources: base.sources, own: historian.own() }),
      payload: async (key) => need(await store.open(), 'inspect', 'inbox.events.payload').payload(key),
      attempts: async (key) => need(await store.open(), 'inspect', 'inbox.events.attempts').attempts(key),
      stats: async () => (await store.open()).stats(),
      tail: async (tailOptions) => (await store.open()).tail(tailOptions),
      audits: async (filter = {}, page) =>
        need(await store.open(), 'audit', 'inbox.events.audits').list(filter, page),
    },
    retry: processing.act('retry'),
    replay: processing.act('replay'),
    ignore: processing.act('ignore'),
    spool: spool && { status: spool.status, hasRoom: spool.hasRoom, retrySetAside: spool.retrySetAside },
    retain: upkeep.retain,
    erase: upkeep.erase,
    reconcile: (source, reconcileOptions) => reconciling.reconcile(source, reconcileOptions),
    reports: reconciling.reports,
  }
  return Object.assign(
    inbox,
    inboxInternals(base, processing, intake, upkeep, () => started),
  )
}
