/**
 * The follower gives named consumers their events: it copies new events of a source to each consumer of this process, in
 * order, together with its position (docs/decisions/0009-consumers.md). Every process with the consumer does this; the
 * position lets one of them through at a time. A new event of this process ends the pause between two passes, and so do
 * other processes where the store can notify; it also polls.
 *
 * It copies only types that this process or another live one handles: during a deploy that adds a type, an older process must
 * not pass over its events.
 */
import { atMost } from '../clock.js'
import { type Counters, countStoreError } from '../counters.js'
import type { Logger } from '../log.js'
import { type EventRecord, followedSource, limits, type Position } from '../model.js'
import type { Source } from '../provider.js'
import { laneOf } from '../references.js'
import type { Consumer, Consumers, CopiedEvent, Store } from '../store.js'
import { handledNow } from './elsewhere.js'
import { Pause } from './pause.js'
import type { Registry } from './registry.js'

/** A position that nothing is copied for is written this often, so that a restart does not read the whole log again. */
const MOVE_AFTER_SEQS = 10_000
/** After a pass that copied fewer events than this, the follower rests as long as the pass took: the next one finds more. */
const FEW_EVENTS = 8
const MAX_REST_MS = 20
const MAX_FAILURE_PAUSE_MS = 10_000

export interface FollowerDeps<Tx> {
  readonly store: Store<Tx>
  readonly registry: Registry<Tx>
  readonly sources: ReadonlyMap<string, Source>
  readonly log: Logger
  readonly counters: Counters
  /** Events of consumers are due. */
  onCopied(): void
}

interface Pass {
  copied: number
  isComplete: boolean
  hasFailed: boolean
}

export class Follower<Tx> {
  readonly #deps: FollowerDeps<Tx>
  readonly #pollMs: number
  readonly #pause = new Pause()
  /** Read up to here, where that is ahead of the position in the log. */
  readonly #readTo = new Map<string, Position>()
  readonly #reportedGaps = new Set<string>()
  #isRunning = false
  #looping: Promise<void> | null = null
  #unsubscribe: (() => Promise<void>) | undefined
  #failures = 0

  constructor(deps: FollowerDeps<Tx>, pollMs: number) {
    this.#deps = deps
    this.#pollMs = pollMs
  }

  /** Makes the consumers of this process known to the log. Never rejects: each pass tries again. */
  async open(): Promise<void> {
    if (this.#deps.store.consumers)
      await this.#known(this.#deps.store.consumers).catch((error) => this.#failed(error))
  }

  async start(): Promise<void> {
    this.#isRunning = true
    if (this.#looping || this.#deps.registry.consumers.size === 0) return
    this.#looping = this.#loop()
    this.#unsubscribe = await this.#deps.store.subscribe(() => this.wake()).catch(() => undefined)
    if (!this.#isRunning) await this.#unsubscribe?.()
  }

  /** There are new events, or new consumers. */
  wake(): void {
    this.#pause.end()
  }

  /** A copy that is under way is one transaction, and is waited for. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isRunning = false
    this.#pause.end()
    await atMost(deadlineMs, Promise.all([this.#looping, this.#unsubscribe?.()]))
    this.#looping = null
  }

  /** Copies until nothing is left. Resolves to the number of events. For `drain`. */
  async catchUp(): Promise<number> {
    let copied = 0
    for (;;) {
      const pass = await this.#pass()
      copied += pass.copied
      if (pass.isComplete || pass.hasFailed) return copied
    }
  }

  async #loop(): Promise<void> {
    while (this.#isRunning) {
      const startedAt = performance.now()
      const pass = await this.#pass()
      if (!this.#isRunning) return
      this.#failures = pass.hasFailed ? this.#failures + 1 : 0
      if (pass.hasFailed) await this.#pause.begin(Math.min(MAX_FAILURE_PAUSE_MS, 200 * 2 ** this.#failures))
      else if (pass.isComplete) await this.#pause.begin(this.#pollMs)
      else if (pass.copied < FEW_EVENTS) await rest(Math.min(MAX_REST_MS, performance.now() - startedAt))
    }
  }

  /** One page for each consumer, so that one with a long way to go does not hold up the others. */
  async #pass(): Promise<Pass> {
    const { store, registry } = this.#deps
    const pass: Pass = { copied: 0, isComplete: true, hasFailed: false }
    if (registry.consumers.size === 0) return pass
    try {
      const consumers = store.consumers!
      for (const consumer of await this.#known(consumers)) {
        if (!registry.consumers.has(consumer.source)) continue
        // A fault of one consumer does not stop the others.
        await this.#advance(consumers, consumer, pass).catch((error) =>
          this.#failed(error, pass, consumer.source),
        )
      }
    } catch (error) {
      this.#failed(error, pass)
    }
    if (pass.copied > 0) this.#deps.onCopied()
    return pass
  }

  async #known(consumers: Consumers): Promise<readonly Consumer[]> {
    const { registry } = this.#deps
    let known = await consumers.list()
    const isKnown = (name: string) => known.some(({ source }) => source === name)
    const missing = [...registry.ownConsumers()].filter(([name]) => !isKnown(name))
    if (missing.length > 0) {
      await consumers.open(missing.map(([source, from]) => ({ source, from })))
      known = await consumers.list()
    }
    registry.hasMainConsumer = isKnown
    return known
  }

  async #advance(consumers: Consumers, { source, position }: Consumer, pass: Pass): Promise<void> {
    const followed = followedSource(source)
    const after = Math.max(position, this.#readTo.get(source) ?? 0)
    const page = await this.#deps.store.tail({ after, limit: limits.listPage, source: followed })
    if (page.gap) this.#reportGap(source, position)
    if (page.position === after) return
    pass.isComplete = false
    const events = await this.#wanted(source, page.events)
    if (events.length === 0 && page.position - position < MOVE_AFTER_SEQS) {
      this.#readTo.set(source, page.position)
      return
    }
    const isCopied = await consumers.copy({ source, from: position, to: page.position, events })
    if (isCopied) pass.copied += events.length
    else this.#readTo.delete(source)
  }

  async #wanted(source: string, events: readonly EventRecord[]): Promise<CopiedEvent[]> {
    const { store, registry, sources } = this.#deps
    let others: Awaited<ReturnType<typeof handledNow>> | undefined
    const wanted: CopiedEvent[] = []
    for (const event of events) {
      const { seq, type } = event
      // Another program has handled it, before it came to this log.
      if (event.origin === 'import') continue
      const key = { source, type }
      if (!registry.has(key) && !registry.isLeft(key)) {
        others ??= await handledNow(store, sources)
        if (!others(key)) continue
      }
      const order =
        sources.get(followedSource(source))?.order ?? registry.resolve(source, type)?.options.order
      wanted.push({ seq, lane: laneOf(order, event) })
    }
    return wanted
  }

  #reportGap(source: string, position: Position): void {
    const gap = `${source} ${position}`
    if (this.#reportedGaps.has(gap)) return
    this.#reportedGaps.add(gap)
    this.#deps.log.warn(
      { step: 'claim', source },
      'retention has removed events that this consumer had not received yet',
    )
  }

  #failed(error: unknown, pass?: Pass, source?: string): void {
    if (pass) pass.hasFailed = true
    const { log, counters } = this.#deps
    log.error(
      { step: 'claim', ...(source !== undefined && { source }), code: countStoreError(counters, error) },
      'new events could not be given to a consumer; trying again',
    )
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
