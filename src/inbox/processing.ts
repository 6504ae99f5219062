/** Processing as part of an inbox: the processor exists once the store is open, and runs once the inbox was started. */
import type { Counters } from '../counters.js'
import type { AfterRecord } from '../intake/after-record.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent, EventFilter, EventKey } from '../model.js'
import { type BulkOptions, commandEvent, commandEvents } from '../processing/commands.js'
import { handleInline } from '../processing/inline.js'
import { type ProcessingOptions, Processor } from '../processing/processor.js'
import type { Redactor } from '../processing/redact.js'
import type { Registry } from '../processing/registry.js'
import type { Result } from '../processing/result.js'
import type { Source } from '../provider.js'
import type { SeenCache } from '../seen/cache.js'
import type { Store } from '../store.js'
import type { Tracing } from '../tracing.js'
import type { IdleWarning } from './idle-warning.js'
import type { LazyStore } from './lazy-store.js'
import type { OrderVerb } from './types.js'

export interface InboxProcessingDeps<Tx> {
  readonly store: LazyStore<Tx>
  readonly registry: Registry<Tx>
  readonly sources: ReadonlyMap<string, Source>
  readonly cache: SeenCache | null
  readonly log: Logger
  readonly counters: Counters
  readonly redact: Redactor
  readonly tracing: Tracing | null
  readonly idle: IdleWarning
}

export interface InboxProcessing<Tx> {
  /** Starts handlers now, or as soon as the store is open. */
  start(): Promise<void>
  stop(deadlineMs: number): Promise<void>
  /** Looks for due events now. */
  wake(): void
  /** The processor. Opens the store. */
  processor(): Promise<Processor<Tx>>
  readonly afterRecord: AfterRecord
  order(verb: 'retry' | 'replay' | 'ignore'): OrderVerb
}

export function inboxProcessing<Tx>(
  deps: InboxProcessingDeps<Tx>,
  options: ProcessingOptions,
): InboxProcessing<Tx> {
  const { store, registry, sources, cache, idle } = deps
  let processor: Processor<Tx> | undefined
  let started = false
  const wake = () => processor?.wake()

  store.onOpen(async (opened) => {
    processor = new Processor<Tx>({ ...deps, store: opened, onSettled: tellCache }, options)
    if (started) await processor.start()
  })

  function tellCache({ source, eventId, lease }: ClaimedEvent, { kind }: Result): void {
    if (kind === 'succeeded' || kind === 'ignored') cache?.settled({ source, eventId, seq: lease.seq }, kind)
  }

  const afterRecord: AfterRecord = {
    recorded() {
      idle.recorded()
      wake()
    },
    handledLater: () => started,
    async inline(key, verdict) {
      const opened = await store.openForAccepted()
      const handledLater = async () => started || (await isHandledElsewhere(opened, key.source))
      const status = await handleInline(opened, processor!, key, verdict, handledLater)
      if (status === 'not_handled' || status === 'unknown') idle.recorded()
      return status
    },
    async rearm(key) {
      const opened = await store.openForAccepted()
      await commandEvent(opened, 'retry', key, { actor: 'sender', note: 'delivered again' })
      wake()
    },
    // Events of one lane run one after the other.
    laneOf(source, { type, reference }) {
      const ordered = sources.get(source)?.order ?? registry.resolve(source, type)?.options.order
      return ordered === 'reference' ? reference : null
    },
  }

  function order(verb: 'retry' | 'replay' | 'ignore'): OrderVerb {
    return (async (target: EventKey | readonly EventKey[] | EventFilter, by: BulkOptions = {}) => {
      const ordered = forgetting(await store.open(), cache)
      const result = isKey(target)
        ? await commandEvent(ordered, verb, target, by)
        : await commandEvents(ordered, verb, target, by)
      wake()
      return result
    }) as OrderVerb
  }

  return {
    async start() {
      started = true
      idle.runs()
      await processor?.start()
    },
    stop: async (deadlineMs) => processor?.stop(deadlineMs),
    wake,
    async processor() {
      idle.runs()
      await store.open()
      return processor!
    },
    afterRecord,
    order,
  }
}

/** Whether a worker of another process takes events of this source. */
async function isHandledElsewhere({ history }: Store, source: string): Promise<boolean> {
  const handled = history ? await history.handled() : []
  return handled.some((types) => types.source === source)
}

/** The cache forgets the events of an order: their state has changed. */
function forgetting(store: Store, cache: SeenCache | null): Pick<Store, 'list' | 'operate'> {
  return {
    list: (filter, page) => store.list(filter, page),
    async operate(order) {
      const results = await store.operate(order)
      await cache?.forget(order.events)
      return results
    },
  }
}

function isKey(target: EventKey | readonly EventKey[] | EventFilter): target is EventKey {
  if (!('source' in target && 'eventId' in target)) return false
  return target.source !== undefined && target.eventId !== undefined && Object.keys(target).length === 2
}
