/** Processing as part of an inbox: the processor exists once the store is open, and runs once the inbox was started. */
import { atMost } from '../clock.js'
import type { AfterRecord } from '../intake/after-record.js'
import type {
  ClaimedEvent,
  EventFilter,
  EventKey,
  EventTypeKey,
  InlineStatus,
  RecordVerdict,
} from '../model.js'
import { actOnEvent, actOnEvents, type BulkOptions } from '../processing/actions.js'
import { handledNow } from '../processing/elsewhere.js'
import { handleInline } from '../processing/inline.js'
import { workerName } from '../processing/options.js'
import { Processor } from '../processing/processor.js'
import type { Result } from '../processing/result.js'
import type { InboxBase } from './base.js'
import { idleWarning } from './idle-warning.js'
import type { ActionMethod } from './types.js'

export interface InboxProcessing<Tx> {
  readonly worker: string | null
  /** Starts handlers now, or as soon as the store is open. */
  start(): Promise<void>
  /** Running attempts go on, and so do requests that handle their events. */
  stopClaiming(): void
  stop(deadlineMs: number): Promise<void>
  wake(): void
  /** Opens the store. */
  processor(): Promise<Processor<Tx>>
  readonly afterRecord: AfterRecord
  act(verb: 'retry' | 'replay' | 'ignore'): ActionMethod
}

export function inboxProcessing<Tx>(base: InboxBase<Tx>): InboxProcessing<Tx> {
  const { store, registry, sources, cache } = base
  const { retry, ...options } = base.options.processing || {}
  const runs = base.options.processing !== false
  const worker = runs ? (options.worker ?? workerName()) : null
  const idle = runs ? idleWarning({ ...base, handled: () => registry.sources() }) : null
  let processor: Processor<Tx> | undefined
  let started = false
  const inRequests = new InRequests()
  const wake = () => processor?.wake()

  store.onOpen(async (opened) => {
    const deps = { ...base, store: opened, onSettled: tellCache }
    processor = new Processor<Tx>(deps, worker === null ? options : { ...options, worker })
    if (started && !store.refuses) await processor.start()
  })

  function tellCache({ source, id, lease }: ClaimedEvent, { kind }: Result): void {
    if (kind === 'succeeded' || kind === 'ignored') cache?.settled({ source, id, seq: lease.seq }, kind)
  }

  const afterRecord: AfterRecord = {
    wakeWorkers() {
      idle?.recorded()
      wake()
    },
    handledLater: () => started,
    inline: (event, verdict) => inRequests.add(inline(event, verdict)),
    async rearm(key) {
      const opened = await store.openForAccepted()
      await actOnEvent(opened, 'retry', key, { actor: 'sender', note: 'delivered again' })
      wake()
    },
    // Events of one lane run one after the other.
    laneOf(source, { type, reference }) {
      const ordered = sources.get(source)?.order ?? registry.resolve(source, type)?.options.order
      return ordered === 'reference' ? reference : null
    },
  }

  async function inline(event: EventKey & EventTypeKey, verdict: RecordVerdict): Promise<InlineStatus> {
    const { source, id, type } = event
    const opened = await store.openForAccepted()
    const handledLater = async () => started || (await handledNow(opened, sources))(event)
    const isHandledHere = registry.resolve(source, type) !== null
    const status = await handleInline(
      opened,
      processor!,
      { source, id },
      verdict,
      isHandledHere,
      handledLater,
    )
    if (status === 'not_handled' || status === 'unknown') idle?.recorded()
    return status
  }

  function act(verb: 'retry' | 'replay' | 'ignore'): ActionMethod {
    return (async (target: EventKey | readonly EventKey[] | EventFilter, by: BulkOptions = {}) => {
      const opened = await store.open()
      const result = isKey(target)
        ? await actOnEvent(opened, verb, target, by)
        : await actOnEvents(opened, verb, target, by)
      wake()
      return result
    }) as ActionMethod
  }

  return {
    worker,
    async start() {
      if (!runs) return
      started = true
      idle?.runs()
      await processor?.start()
    },
    stopClaiming: () => void processor?.stopClaiming(),
    async stop(deadlineMs) {
      // A request that has recorded its event and not begun its attempt is not known to the processor yet.
      await Promise.all([processor?.stop(deadlineMs), atMost(deadlineMs, inRequests.idle())])
    },
    wake,
    async processor() {
      idle?.runs()
      await store.open()
      return processor!
    },
    afterRecord,
    act,
  }
}

class InRequests {
  readonly #running = new Set<Promise<unknown>>()

  add<T>(run: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = run.catch(() => {}).finally(() => this.#running.delete(ended))
    this.#running.add(ended)
    return run
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }
}

function isKey(target: EventKey | readonly EventKey[] | EventFilter): target is EventKey {
  if (!('source' in target && 'id' in target)) return false
  return target.source !== undefined && target.id !== undefined && Object.keys(target).length === 2
}
