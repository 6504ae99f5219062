/**
 * The inbox: a store, the sources events come from, and what can be done with them. Start reading here; then
 * `intake/intake.ts` is the path of one delivery.
 */
import { atMost, countDown, systemClock, timeLimited } from './clock.js'
import { type Counters, countRejected, countStoreError, createCounters, UNKNOWN_SOURCE } from './counters.js'
import { encrypted } from './encryption/encrypted.js'
import { keyRing } from './encryption/key-ring.js'
import { HookonceError } from './errors.js'
import { checkLimits, checkSources } from './inbox/checks.js'
import type { InboxOptions } from './inbox/options.js'
import { recordingPath } from './inbox/recording-path.js'
import { type Receipt, rejected } from './intake/answer.js'
import { type BodyBudget, createBodyBudget } from './intake/body-budget.js'
import { fetchIntake } from './intake/fetch.js'
import { type AfterRecord, type IntakeDeps, intake, refusedEarly } from './intake/intake.js'
import { defaultLimits, type EarlyRefusal, type IntakeLimits } from './intake/receive.js'
import { jsonLog, type Logger } from './log.js'
import { repeatedLines } from './log-repeats.js'
import type {
  Attempt,
  AuditFilter,
  AuditPage,
  ClaimedEvent,
  EraseResult,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  OrderResult,
  Payload,
  SourceStats,
  TailOptions,
  TailPage,
} from './model.js'
import { openStore } from './open-store.js'
import { openTelemetry } from './opentelemetry.js'
import type { Result } from './processing/handle.js'
import type { BatchHandler, Handler, HandlerOptions, StandardSchema } from './processing/handler.js'
import { createHandlers, type Handlers } from './processing/handlers.js'
import { handleInline } from './processing/inline.js'
import { type OnceKeyOptions, onceKey } from './processing/once.js'
import {
  type BulkOptions,
  type BulkResult,
  type OrderOptions,
  orderMany,
  orderOne,
} from './processing/orders.js'
import { createProcessor, type Processor } from './processing/processor.js'
import { createRedactor, type Redactor } from './processing/redact.js'
import type { Delivery, Source } from './provider.js'
import { type EraseAllOptions, eraseAll } from './retention/erase.js'
import { retentionPolicy } from './retention/policy.js'
import { type RetainOptions, type RetainParts, type RetainReport, retain } from './retention/retain.js'
import { type RetentionSchedule, startSchedule } from './retention/schedule.js'
import type { Spool } from './spool/spool.js'
import type { Store } from './store.js'

/** The type a schema gives, for `on` with a `schema`. */
type OutputOf<S> = S extends StandardSchema<infer Output> ? Output : unknown

export type { InboxOptions }

export interface Inbox<Tx = unknown> extends AsyncDisposable {
  /** Takes one delivery through intake. Never throws for what a sender did: the receipt is the answer. */
  receive(source: string, delivery: Delivery): Promise<Receipt>
  /** The same for a web-standard request to `/webhooks/<source>`. */
  fetch(request: Request): Promise<Response>
  /** For adapters: counts and logs what they turn away themselves, and says how to answer it. */
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  /**
   * Registers the handler for a type (`invoice.paid`), a glob (`invoice.*`) or all (`*`) of a source. The most specific
   * one is called; two for the same pattern are an error.
   */
  on<S extends StandardSchema | undefined = undefined>(
    source: string,
    type: string,
    handler: Handler<Tx, OutputOf<S>>,
    options?: Omit<HandlerOptions, 'schema' | 'maxBatch'> & { readonly schema?: S },
  ): Inbox<Tx>
  /** The same for many events in one transaction. A failure makes them run one by one. */
  onBatch<S extends StandardSchema | undefined = undefined>(
    source: string,
    type: string,
    handler: BatchHandler<Tx, OutputOf<S>>,
    options?: Omit<HandlerOptions, 'schema' | 'order'> & { readonly schema?: S },
  ): Inbox<Tx>
  /** Opens the store, brings its schema up to date, and starts running handlers. */
  start(): Promise<void>
  /** Finishes what was accepted and what runs (`deadlineMs`, default 10 s), hands back the rest, lets go of the store. */
  stop(options?: { deadlineMs?: number }): Promise<void>
  /** Runs everything that is due until nothing is, and says how many attempts that took. For tests. */
  drain(): Promise<number>
  /** Runs this event now, for people with a queue of their own. Null: not there, finished, or somebody has it. */
  process(source: string, eventId: string): Promise<Result | null>
  /** No new attempts of a source, or of one handler of it, in this process. */
  pause(source: string, type?: string): void
  resume(source: string, type?: string): void
  /** The types of a source that have a handler. */
  handled(source: string): readonly string[]
  /** Runs `fn` once for this key, across processes and restarts, and keeps its result. */
  once<T>(key: string, fn: () => T | Promise<T>, options?: OnceKeyOptions): Promise<T>
  readonly events: {
    get(key: EventKey): Promise<EventRecord | null>
    list(filter?: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
    payload(key: EventKey): Promise<Payload | null>
    attempts(key: EventKey): Promise<Attempt[]>
    stats(): Promise<SourceStats[]>
    /** The log in the order it grew, from a position on: for readers that follow it. */
    tail(options: TailOptions): Promise<TailPage>
    /** Who did what to the log, newest first. */
    audits(filter?: AuditFilter, page?: { limit?: number; cursor?: string | null }): Promise<AuditPage>
  }
  readonly retry: OrderVerb
  readonly replay: OrderVerb
  readonly ignore: OrderVerb
  /** Runs retention now, and waits for it; `dryRun` counts what would go. */
  retain(options?: RetainOptions): Promise<RetainReport>
  /** Takes the bytes of every delivery about a reference for good; the events stay as guards. */
  erase(options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>>
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  readonly bodies: BodyBudget // for adapters: the memory that bodies take together
  readonly counters: Counters
  /** Null when there is none. */
  readonly spool: Spool | null
  /** For attempts that are made elsewhere (the worker API): how they are tried again, and what their errors may say. */
  readonly attempts: { readonly retryOf: Handlers<Tx>['retryOf']; readonly redact: Redactor }
  readonly log: Logger
  /** The open store. */
  store(): Promise<Store<Tx>>
}

/** On one event, or on every event a filter finds. */
export interface OrderVerb {
  (key: EventKey, options?: OrderOptions): Promise<OrderResult>
  (filter: EventFilter, options?: BulkOptions): Promise<BulkResult>
}

export function createInbox<Tx = unknown>(options: InboxOptions<Tx>): Inbox<Tx> {
  const log = options.log ?? jsonLog()
  const repeats = repeatedLines(log)
  const sources = checkSources(options.sources, log)
  const redact = createRedactor(options.redact ?? {}, sources)
  const limits = checkLimits({ ...defaultLimits, ...options.limits })
  const bodies = createBodyBudget(limits.allBodiesBytes)
  const counters = createCounters()
  const { retry = {}, ...processing } = options.processing || {}
  const handlers = createHandlers<Tx>(new Set(sources.keys()), retry)
  const ownsStore = options.ownsStore ?? typeof options.store === 'string'
  const clock = options.clock ?? systemClock
  const ring = options.encryption && keyRing(options.encryption)
  const settings = options.retention || {}
  const policy = retentionPolicy(settings, sources)
  let schedule: RetentionSchedule | undefined
  let opening: Promise<Store<Tx>> | undefined
  let opened: Store<Tx> | undefined
  /** The store while its schema is brought up to date, which may take long. */
  let opensNow: Store<Tx> | undefined
  let processor: Processor | undefined
  let processes = false
  let stopped = false

  // What has been accepted is carried through, also while the inbox stops: `open` is for what begins now.
  const held = () => opening ?? open()
  const { spool, recall, logId, commits } = recordingPath({
    options,
    recordMs: limits.recordMs,
    ring,
    clock,
    log,
    counters,
    held,
    open,
    opened: () => opened,
    wake: () => processor?.wake(),
  })
  const after: AfterRecord = {
    recorded: () => processor?.wake(),
    inline: async (key, verdict) => handleInline(await held(), processor!, key, verdict, processes),
    async rearm(key) {
      await orderOne(await held(), 'retry', key, { actor: 'sender', reason: 'delivered again' })
      processor?.wake()
    },
    laneOf: (source, event) => laneOf(handlers, sources, source, event),
  }
  const tracing = options.tracing === false ? null : openTelemetry()
  const parts: IntakeDeps = {
    sources,
    commits,
    seen: recall,
    limits,
    clock,
    log,
    repeats,
    counters,
    after,
    tracing,
  }

  /** Opened once; a failure is forgotten so that the next delivery tries again. */
  function open(): Promise<Store<Tx>> {
    if (stopped) return Promise.reject(new HookonceError('STORE_CLOSED'))
    opening ??= openOnce().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function openOnce(): Promise<Store<Tx>> {
    const plain =
      typeof options.store === 'string' ? ((await openStore(options.store)) as Store<Tx>) : options.store
    const store = ring ? encrypted(plain, ring) : plain
    opensNow = store
    try {
      if (options.migrate !== false) await store.migrate()
    } catch (error) {
      if (typeof options.store === 'string') await store.close() // the next try opens another
      throw error
    }
    processor = createProcessor<Tx>(
      { store, handlers, sources, log, counters, settled, redact, tracing },
      processing,
    )
    if (processes) await processor.start()
    opened = store
    return store
  }

  function settled({ source, eventId, lease }: ClaimedEvent, { kind }: Result): void {
    if (kind === 'succeeded' || kind === 'ignored') recall?.settled({ source, eventId, seq: lease.seq }, kind)
  }

  async function receive(source: string, delivery: Delivery): Promise<Receipt> {
    if (spool) spool.start()
    else if (!opened) {
      try {
        await timeLimited(open(), limits.recordMs, () => notOpen(limits.recordMs))
      } catch (error) {
        turnedAway(source, countStoreError(counters, error))
        repeats.error(
          {
            source: sources.has(source) ? source : UNKNOWN_SOURCE,
            step: 'record',
            problem: error instanceof HookonceError ? error.message : 'unexpected',
          },
          'store not open',
        )
        return rejected(503, 'STORE_UNAVAILABLE', 'unavailable')
      }
    }
    if (stopped) {
      turnedAway(source, 'STORE_CLOSED')
      return rejected(503, 'STORE_CLOSED', 'unavailable')
    }
    return intake(parts, source, delivery)
  }

  async function start(): Promise<void> {
    processes = options.processing !== false
    spool?.start()
    try {
      await open()
    } catch (error) {
      // With a spool the process has something to do already; handlers start when the store is found.
      if (!spool?.covers(error)) throw error
    }
    if (processes) await processor?.start()
    if (opened && recall) await logId.ready()
    if (options.retention !== false && !stopped) schedule ??= startSchedule(retainParts, { log, counters })
  }

  async function retainParts(): Promise<RetainParts> {
    return { store: await open(), policy, settings, log, counters }
  }

  /** Not seen by intake, but it came and was not taken. */
  function turnedAway(source: string, reason: string): void {
    const own = counters.of(sources.has(source) ? source : UNKNOWN_SOURCE)
    own.received++
    countRejected(own, reason)
  }

  async function stop({ deadlineMs = 10_000 } = {}): Promise<void> {
    if (stopped) return
    stopped = true
    // Not waited for first: it may be writing to an archive far away, while handlers have a deadline.
    const retained = schedule?.stop() ?? Promise.resolve()
    const left = countDown(deadlineMs)
    // What was accepted gets a second to be answered, however short the deadline; its sender comes back otherwise.
    await atMost(Math.max(1_000, left()), commits.drained())
    repeats.flush()
    await spool?.stop(left())
    if (!opened) await atMost(left(), opening)
    const store = opened ?? (ownsStore ? (opensNow ?? options.store) : undefined)
    if (store === undefined || typeof store === 'string') return // nothing was opened
    await Promise.all([processor?.stop(left()), atMost(left(), retained)])
    if (ownsStore) await store.close()
    else await store.flush()
  }

  /** The store, with the duplicates this process has seen written: who asks about an event wants them counted. */
  async function counted(): Promise<Store<Tx>> {
    const store = await open()
    await store.flush().catch(() => {}) // they are kept and written later; what is there can be read all the same
    return store
  }

  async function ready(): Promise<Processor> {
    await open()
    return processor!
  }

  function order(verb: 'retry' | 'replay' | 'ignore'): OrderVerb {
    return (async (target: EventKey | EventFilter, by: BulkOptions = {}) => {
      const store = await open()
      const noted: Pick<Store, 'list' | 'operate'> = {
        list: (filter, page) => store.list(filter, page),
        async operate(given) {
          const results = await store.operate(given)
          recall?.forget(given.events)
          return results
        },
      }
      const result = isKey(target)
        ? await orderOne(noted, verb, target, by)
        : await orderMany(noted, verb, target, by)
      processor?.wake()
      return result
    }) as OrderVerb
  }

  const refused = (source: string | null, refusal: EarlyRefusal) =>
    refusedEarly({ sources, counters, repeats }, source, refusal)

  const inbox: Inbox<Tx> = {
    receive,
    refused,
    on(source, type, handler, handlerOptions = {}) {
      handlers.add(source, type, handler as Handler<Tx>, null, handlerOptions as HandlerOptions)
      processor?.wake()
      return inbox
    },
    onBatch(source, type, handler, handlerOptions = {}) {
      handlers.add(source, type, null, handler as BatchHandler<Tx>, handlerOptions as HandlerOptions)
      processor?.wake()
      return inbox
    },
    drain: async () => (await ready()).drain(),
    process: async (source, eventId) => (await ready()).one({ source, eventId }),
    pause: handlers.pause,
    resume(source, type) {
      handlers.resume(source, type)
      processor?.wake()
    },
    handled: (source) => handlers.all.filter((one) => one.source === source).map((one) => one.pattern),
    once: async (key, fn, onceOptions) => onceKey(await open(), key, fn, onceOptions),
    fetch: (request) => fetchIntake({ receive, refused, limits, bodies }, request),
    start,
    stop,
    [Symbol.asyncDispose]: () => stop(),
    events: {
      get: async (key) => (await counted()).get(key),
      list: async (filter = {}, page) => (await counted()).list(filter, page),
      payload: async (key) => (await open()).payload(key),
      attempts: async (key) => (await open()).attempts(key),
      stats: async () => (await open()).stats(),
      tail: async (options) => (await open()).tail(options),
      audits: async (filter = {}, page) => (await open()).audits(filter, page),
    },
    retry: order('retry'),
    replay: order('replay'),
    ignore: order('ignore'),
    retain: async (retainOptions) => retain(await retainParts(), retainOptions),
    erase: async (eraseOptions) => eraseAll(await open(), eraseOptions),
    sources,
    limits,
    bodies,
    counters,
    spool: spool && { status: spool.status, hasRoom: spool.hasRoom, retryRefused: spool.retryRefused },
    attempts: { retryOf: handlers.retryOf, redact },
    log,
    store: open,
  }
  return inbox
}

function notOpen(limitMs: number): HookonceError {
  return new HookonceError('STORE_UNAVAILABLE', { problem: `not open within ${limitMs} ms` })
}

function isKey(target: EventKey | EventFilter): target is EventKey {
  return target.source !== undefined && target.eventId !== undefined && Object.keys(target).length === 2
}

/** Handlers of one type with an order, or the whole source: events about one thing queue up behind each other. */
function laneOf<Tx>(
  handlers: Handlers<Tx>,
  sources: ReadonlyMap<string, Source>,
  source: string,
  { type, reference }: { readonly type: string; readonly reference: string | null },
): string | null {
  const ordered = sources.get(source)?.order ?? handlers.resolve(source, type)?.options.order
  return ordered === 'reference' ? reference : null
}
