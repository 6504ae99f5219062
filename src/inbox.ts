/**
 * The inbox: a store, the sources events come from, and what can be done with them. Start reading here; then
 * `intake/intake.ts` is the path of one delivery.
 */
import { type Clock, systemClock } from './clock.js'
import { HookonceError, invalid } from './errors.js'
import { type Receipt, rejected } from './intake/answer.js'
import { type Counters, createCounters } from './intake/counters.js'
import { fetchIntake } from './intake/fetch.js'
import { type IntakeParts, intake } from './intake/intake.js'
import { defaultLimits, type IntakeLimits } from './intake/receive.js'
import { type GroupCommitOptions, groupCommit } from './intake/record.js'
import { jsonLog, type Logger } from './log.js'
import type {
  Attempt,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  OrderResult,
  Payload,
  SourceStats,
} from './model.js'
import { openStore } from './open-store.js'
import type { Delivery, Source } from './provider.js'
import { type Store, sourceNameProblem } from './store.js'

export interface InboxOptions<Tx = unknown> {
  /** A store, or its URL: `sqlite:events.db`, `sqlite::memory:`, `postgres://user@host/db`. */
  readonly store: Store<Tx> | string
  /** Where events come from, by name. The name is the last part of the path: `/webhooks/<name>`. */
  readonly sources: Readonly<Record<string, Source>>
  readonly limits?: Partial<IntakeLimits>
  readonly commits?: Omit<GroupCommitOptions, 'onCommit'>
  /** Default: warnings and errors as JSON lines on standard error. A pino logger fits. */
  readonly log?: Logger
  readonly clock?: Clock
  /** Bring the schema up to date on first use. Default true. */
  readonly migrate?: boolean
}

/** Who orders, and why: goes into the audit. */
export interface OrderOptions {
  readonly actor?: string
  readonly reason?: string
}

export interface Inbox<Tx = unknown> extends AsyncDisposable {
  /** Takes one delivery through intake. Never throws for what a sender did: the receipt is the answer. */
  receive(source: string, delivery: Delivery): Promise<Receipt>
  /** The same for a web-standard request to `/webhooks/<source>`. */
  fetch(request: Request): Promise<Response>
  /** Opens the store and brings its schema up to date; without it, the first delivery does. */
  start(): Promise<void>
  /** Finishes what was accepted, then closes the store if the inbox opened it. */
  stop(): Promise<void>
  readonly events: {
    get(key: EventKey): Promise<EventRecord | null>
    list(filter?: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
    payload(key: EventKey): Promise<Payload | null>
    attempts(key: EventKey): Promise<Attempt[]>
    stats(): Promise<SourceStats[]>
  }
  retry(key: EventKey, options?: OrderOptions): Promise<OrderResult>
  replay(key: EventKey, options?: OrderOptions & { force?: boolean }): Promise<OrderResult>
  ignore(key: EventKey, options?: OrderOptions): Promise<OrderResult>
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  readonly counters: Counters
  readonly log: Logger
  /** The open store. */
  store(): Promise<Store<Tx>>
}

export function createInbox<Tx = unknown>(options: InboxOptions<Tx>): Inbox<Tx> {
  const log = options.log ?? jsonLog()
  const sources = checkSources(options.sources, log)
  const limits = checkLimits({ ...defaultLimits, ...options.limits })
  const counters = createCounters()
  const ownsStore = typeof options.store === 'string'
  let opening: Promise<Store<Tx>> | undefined
  let parts: IntakeParts | undefined
  let stopped = false

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
    const store =
      typeof options.store === 'string' ? ((await openStore(options.store)) as Store<Tx>) : options.store
    try {
      if (options.migrate !== false) await store.migrate()
    } catch (error) {
      if (ownsStore) await store.close()
      throw error
    }
    const onCommit = (deliveries: number) => {
      counters.commits++
      counters.committed += deliveries
    }
    const commits = groupCommit(store, { ...options.commits, onCommit })
    parts = { sources, commits, limits, clock: options.clock ?? systemClock, log, counters }
    return store
  }

  async function receive(source: string, delivery: Delivery): Promise<Receipt> {
    if (!parts) {
      try {
        await open()
      } catch (error) {
        log.error(
          { source, step: 'record', problem: error instanceof HookonceError ? error.message : 'unexpected' },
          'store not open',
        )
        return rejected(503, 'STORE_UNAVAILABLE', 'unavailable')
      }
    }
    if (stopped) return rejected(503, 'STORE_CLOSED', 'unavailable')
    return intake(parts!, source, delivery)
  }

  async function stop(): Promise<void> {
    if (stopped) return
    stopped = true
    if (!opening) return
    const store = await opening
    await parts?.commits.drained()
    if (ownsStore) await store.close()
    else await store.flush()
  }

  /** The store, with the duplicates this process has seen written: who asks about an event wants them counted. */
  async function counted(): Promise<Store<Tx>> {
    const store = await open()
    await store.flush().catch(() => {}) // they are kept and written later; what is there can be read all the same
    return store
  }

  async function order(
    verb: 'retry' | 'replay' | 'ignore',
    key: EventKey,
    by: OrderOptions & { force?: boolean } = {},
  ) {
    const { actor = 'inbox', reason = '', force = false } = by
    const [result] = await (await open()).operate({ verb, events: [key], actor, reason, force })
    return result!
  }

  return {
    receive,
    fetch: (request) => fetchIntake({ receive, limits }, request),
    start: async () => void (await open()),
    stop,
    [Symbol.asyncDispose]: stop,
    events: {
      get: async (key) => (await counted()).get(key),
      list: async (filter = {}, page) => (await counted()).list(filter, page),
      payload: async (key) => (await open()).payload(key),
      attempts: async (key) => (await open()).attempts(key),
      stats: async () => (await open()).stats(),
    },
    retry: (key, by) => order('retry', key, by),
    replay: (key, by) => order('replay', key, by),
    ignore: (key, by) => order('ignore', key, by),
    sources,
    limits,
    counters,
    log,
    store: open,
  }
}

function checkSources(given: Readonly<Record<string, Source>>, log: Logger): ReadonlyMap<string, Source> {
  const sources = new Map(Object.entries(given))
  for (const [name, source] of sources) {
    const problem = sourceNameProblem(name)
    if (problem) throw invalid(`The source name "${name}"`, problem)
    if (typeof source?.verify !== 'function') {
      throw invalid(
        `The source "${name}"`,
        'it is not what a provider factory returns, such as stripe({ secret })',
      )
    }
    if (source.mode === 'inline') {
      throw invalid(
        `The source "${name}"`,
        "mode 'inline' needs handlers, which this version does not run yet",
      )
    }
    if (source.unverified) {
      log.warn({ source: name }, 'this source is not verified: anyone who can reach it can record events')
    }
  }
  return sources
}

function checkLimits(limits: IntakeLimits): IntakeLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in defaultLimits))
      throw invalid(`The limit "${name}"`, `known are ${Object.keys(defaultLimits).join(', ')}`)
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`The limit ${name}`, `${value} is not a whole number above 0`)
  }
  return limits
}
