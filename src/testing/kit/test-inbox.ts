/**
 * An inbox for the tests of an application: deliveries are signed as the sender signs them and go through intake, the log
 * and the handlers, without HTTP, without waiting, and with a clock that the test moves.
 */
import type { Clock } from '../../clock.js'
import { type Duration, durationMs } from '../../duration.js'
import { invalid } from '../../errors.js'
import { wholeInbox } from '../../inbox/internals.js'
import { createInbox, type Inbox, type InboxOptions } from '../../inbox.js'
import type { Receipt } from '../../intake/answer.js'
import type { EventKey, EventRecord, State } from '../../model.js'
import type { Delivery, Source } from '../../provider.js'
import type { Attempt, Store } from '../../store.js'
import { type CrashStep, crashing } from './crash.js'
import { type DeliverOptions, signedDelivery } from './delivery.js'
import { openTestStore } from './test-store.js'

export interface TestInboxOptions<Tx = unknown>
  extends Omit<InboxOptions<Tx>, 'store' | 'sources' | 'clock' | 'ownsStore'> {
  readonly sources: Readonly<Record<string, Source>>
  /** Registers the handlers under test, as `handlers` of a configuration does. */
  // biome-ignore lint/suspicious/noExplicitAny: a function for an inbox with any kind of transaction is accepted
  readonly handlers?: (inbox: any) => unknown
  /**
   * `sqlite::memory:` by default. For `postgres://...` the log is in a new schema, which `stop` drops. A store object is
   * used as it is, and closed by `stop`.
   */
  readonly store?: Store<Tx> | string
}

export interface EventState {
  /** Null: the delivery was rejected. */
  readonly event: EventRecord | null
  readonly state: State | null
  readonly attempts: readonly Attempt[]
  /** The redacted error of the last attempt, or the reason why it was ignored. */
  readonly error: string | null
}

/** The answer to one delivery, and its event after the handler has run. */
export interface Delivered extends Receipt, EventState {}

export interface TestInbox<Tx = unknown> extends AsyncDisposable {
  readonly inbox: Inbox<Tx>
  /** Delivers one event and runs its handler. Without a body: the sample of the type, as `hookonce send` sends it. */
  deliver(source: string, type?: string, body?: unknown, options?: DeliverOptions): Promise<Delivered>
  /** Delivers twice, one after the other. */
  deliverTwice(
    source: string,
    type?: string,
    body?: unknown,
    options?: DeliverOptions,
  ): Promise<[Delivered, Delivered]>
  /** Delivers `count` times at once. */
  deliverConcurrently(
    count: number,
    source: string,
    type?: string,
    body?: unknown,
    options?: DeliverOptions,
  ): Promise<Delivered[]>
  /** The next time this step is reached, the process "dies" there: see `docs/testing.md`. */
  crashAt(step: CrashStep): void
  /** Moves the clock and runs what is due then. Resolves to the number of attempts. */
  advance(duration: Duration): Promise<number>
  /** Runs what is due. Resolves to the number of attempts. */
  drain(): Promise<number>
  /** An event as it is now: `look(delivered)`, or `look({ source, id })`. */
  look(event: Delivered | EventKey): Promise<EventState>
  /** Runs one statement beside the log: tables of the application, and what the handlers wrote into them. */
  sql(text: string, params?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Milliseconds since 1970, by the clock of the test. */
  now(): number
  stop(): Promise<void>
}

export async function testInbox<Tx = unknown>(options: TestInboxOptions<Tx>): Promise<TestInbox<Tx>> {
  const { handlers, store: wanted = 'sqlite::memory:', ...others } = options
  let offsetMs = 0
  const clock: Clock = { now: () => Date.now() + offsetMs, steady: () => performance.now() + offsetMs }
  const opened = await openTestStore<Tx>(wanted, clock)
  const { store, crashes } = crashing(opened.store)
  const inbox = wholeInbox(createInbox<Tx>({ log: 'silent', retention: false, ...others, store, clock }))
  await handlers?.(inbox)
  await inbox.store() // migrates, so that `sql` and `advance` work from the start

  function sourceOf(name: string): Source {
    const source = inbox.sources.get(name)
    if (source) return source
    const known = [...inbox.sources.keys()].map((key) => `"${key}"`).join(', ')
    throw invalid(`deliver("${name}")`, `names no source of this inbox; it has ${known || 'none'}`)
  }

  async function stateOf(key: EventKey | null): Promise<EventState> {
    const event = key && (await inbox.events.get(key))
    if (event === null) return { event, state: null, attempts: [], error: null }
    const attempts = await inbox.events.attempts({ source: event.source, id: event.id })
    return { event, state: event.state, attempts, error: attempts.at(-1)?.detail ?? event.reason ?? null }
  }

  async function outcome(source: string, receipt: Receipt): Promise<Delivered> {
    const { eventId } = receipt
    return { ...receipt, ...(await stateOf(eventId === null ? null : { source, id: eventId })) }
  }

  async function send(source: string, deliveries: readonly Delivery[], run = true): Promise<Delivered[]> {
    const receipts = await Promise.all(deliveries.map((delivery) => inbox.receive(source, delivery)))
    if (run) await inbox.drain()
    return Promise.all(receipts.map((receipt) => outcome(source, receipt)))
  }

  const draft: (...args: Parameters<TestInbox['deliver']>) => Promise<Delivery> = async (
    source,
    type,
    body,
    deliverOptions = {},
  ) => signedDelivery(source, sourceOf(source), clock.now(), type, body, deliverOptions)

  async function stop(): Promise<void> {
    await inbox.drain().catch(() => {})
    await opened.remove()
    await inbox.stop({ deadline: 1_000 })
    if (crashes.armed) throw invalid(`crashAt("${crashes.armed}")`, 'was never reached by this test')
  }

  return {
    inbox,
    async deliver(source, type, body, deliverOptions) {
      const delivery = await draft(source, type, body, deliverOptions)
      return (await send(source, [delivery], deliverOptions?.run))[0]!
    },
    async deliverTwice(source, type, body, deliverOptions) {
      const delivery = await draft(source, type, body, deliverOptions)
      const [first] = await send(source, [delivery], deliverOptions?.run)
      const [second] = await send(source, [delivery], deliverOptions?.run)
      return [first!, second!]
    },
    async deliverConcurrently(count, source, type, body, deliverOptions) {
      const delivery = await draft(source, type, body, deliverOptions)
      return send(source, new Array<Delivery>(count).fill(delivery), deliverOptions?.run)
    },
    crashAt: crashes.at,
    async advance(duration) {
      const ms = durationMs(duration)
      if (ms === null || !(ms >= 0)) throw invalid('advance(duration)', 'must be such as "90s", "1h" or "2d"')
      offsetMs += ms
      await opened.moveTo(offsetMs)
      return inbox.drain()
    },
    drain: () => inbox.drain(),
    look: (of) => stateOf('attempts' in of ? of.event : { source: of.source, id: of.id }),
    sql: opened.sql,
    now: clock.now,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
