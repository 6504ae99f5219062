/** Processing as part of an inbox: the processor exists once the store is open, and runs once the inbox was started. */
import { atMost } from '../clock.js'
import { msOf } from '../duration.js'
import { readable } from '../encryption/encrypted.js'
import type { AfterRecord } from '../intake/after-record.js'
import type { ClaimedEvent, EventFilter, EventKey, EventTypeKey, InlineEnd, RecordVerdict } from '../model.js'
import { actOnEvent, actOnEvents, type BulkOptions } from '../processing/actions.js'
import { handledNow } from '../processing/elsewhere.js'
import { Follower } from '../processing/follower.js'
import { handleInline } from '../processing/inline.js'
import { DEFAULT_POLL, workerName } from '../processing/options.js'
import { Processor } from '../processing/processor.js'
import type { Result } from '../processing/result.js'
import type { LogRecorder } from '../recorder.js'
import { laneOf } from '../references.js'
import type { PlacesTaken } from '../store.js'
import type { InboxBase } from './base.js'
import { idleWarning } from './idle-warning.js'
import { warnOfSecondInbox } from './second-inbox.js'
import type { ActionMethod } from './types.js'

export interface InboxProcessing {
  readonly worker: string | null
  /** Starts handlers now, or as soon as the store is open. */
  start(): Promise<void>
  /** Running attempts go on, and so do requests that handle their events. */
  stopClaiming(): void
  stop(deadlineMs: number): Promise<void>
  wake(): void
  /** Null while the store is not open. */
  places(): PlacesTaken | null
  /** Never rejects. */
  handlersChanged(): Promise<void>
  drain(): Promise<number>
  /** Opens the store. */
  process(key: EventKey): Promise<Result | null>
  readonly afterRecord: AfterRecord
  /** `next` claims the events that handlers of this process can begin at once. */
  claiming(next: LogRecorder): LogRecorder
  act(verb: 'retry' | 'replay' | 'ignore'): ActionMethod
}

export function inboxProcessing<Tx>(base: InboxBase<Tx>): InboxProcessing {
  const { store, registry, sources, cache } = base
  const { retry, ...options } = base.options.processing || {}
  const runs = base.options.processing !== false
  const worker = runs ? (options.worker ?? workerName()) : null
  const idle = runs ? idleWarning({ ...base, handled: () => registry.sources() }) : null
  let processor: Processor<Tx> | undefined
  let follower: Follower<Tx> | undefined
  let started = false
  const inRequests = new InRequests()
  const wake = () => {
    follower?.wake()
    processor?.wake()
  }

  store.onOpen(async (opened) => {
    await registry.paused.open(opened, () => processor?.wake())
    const deps = { ...base, store: opened, onSettled: tellCache, readable: asClaimed }
    processor = new Processor<Tx>(deps, worker === null ? options : { ...options, worker })
    const onCopied = () => processor?.wake()
    follower = new Follower<Tx>({ ...base, store: opened, onCopied }, msOf(options.poll, DEFAULT_POLL))
    await follower.open()
    if (started && !store.refuses) await begin()
    if (runs) warnOfSecondInbox(opened, () => store.refuses, base.log)
  })

  async function begin(): Promise<void> {
    await registry.paused.start(msOf(options.poll, DEFAULT_POLL))
    await processor?.start()
    await follower?.start()
  }

  function tellCache({ source, id, lease }: ClaimedEvent, { kind }: Result): void {
    if (kind === 'succeeded' || kind === 'ignored') cache?.settled({ source, id, seq: lease.seq }, kind)
  }

  /** The caller may use the memory of its body again when it is answered. */
  function asClaimed(recorded: ClaimedEvent): ClaimedEvent {
    return base.ring ? readable(base.ring, recorded) : { ...recorded, body: Buffer.from(recorded.body!) }
  }

  const afterRecord: AfterRecord = {
    recorded(isLeft) {
      follower?.wake()
      if (!isLeft) return
      idle?.recorded()
      processor?.wake()
    },
    handledLater: () => started,
    inline: (event, verdict) => inRequests.add(inline(event, verdict)),
    async rearm(key) {
      const opened = await store.openForAccepted()
      await actOnEvent(opened, 'retry', key, { actor: 'sender', note: 'delivered again' })
      wake()
    },
    // Events of one lane run one after the other.
    laneOf: (source, event) =>
      laneOf(sources.get(source)?.order ?? registry.resolve(source, event.type)?.options.order, event),
  }

  async function inline(event: EventKey & EventTypeKey, verdict: RecordVerdict): Promise<InlineEnd> {
    const { source, id, type } = event
    const opened = await store.openForAccepted()
    const handledLater = async () => started || (await handledNow(opened, sources))(event)
    const isHandledHere = registry.resolve(source, type) !== null
    const end = await handleInline(opened, processor!, { source, id }, verdict, isHandledHere, handledLater)
    if (end.status === 'not_handled' || end.status === 'unknown') idle?.recorded()
    return end
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
      await begin()
    },
    stopClaiming: () => void processor?.stopClaiming(),
    async stop(deadlineMs) {
      // A request that has recorded its event and not begun its attempt is not known to the processor yet.
      const requests = atMost(deadlineMs, inRequests.idle())
      await Promise.all([follower?.stop(deadlineMs), processor?.stop(deadlineMs), requests])
      await atMost(deadlineMs, registry.paused.stop())
    },
    wake,
    places: () => processor?.places ?? null,
    async handlersChanged() {
      wake()
      await follower?.open()
      if (started && !store.refuses) await follower?.start()
    },
    /** New events of consumers are copied first. A handler may cause new events. */
    async drain() {
      idle?.runs()
      await store.open()
      for (let attempts = 0; ; ) {
        await follower!.catchUp()
        const ended = await processor!.drain()
        attempts += ended
        if (ended === 0 || registry.consumers.size === 0) return attempts
      }
    },
    async process(key) {
      idle?.runs()
      await store.open()
      // The event may be recorded and not copied yet.
      if (registry.consumers.has(key.source)) await follower!.catchUp()
      return processor!.processEvent(key)
    },
    afterRecord,
    claiming: (next) => ({
      record: (deliveries) => (processor ? processor.record(next, deliveries) : next.record(deliveries)),
    }),
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
