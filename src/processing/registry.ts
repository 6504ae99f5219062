/**
 * The registered handlers. The most specific one is called: exact types before globs, longer globs before shorter, `*` last.
 * Where types have a family (`pull_request` of `pull_request.opened`), patterns that match only the family match too, after
 * the exact type and longer globs: `pull_request.*` goes before `pull_request`, and that before `pull_*`.
 */
import { AttemptCounters } from '../counters.js'
import { msOf } from '../duration.js'
import { invalid } from '../errors.js'
import { familyOf, globMatches, handlesType, isGlob, moreSpecificFirst } from '../glob.js'
import { type EventTypeKey, followedSource } from '../model.js'
import { hintOf } from '../nearest.js'
import {
  callable,
  checkOptions,
  choice,
  duration,
  either,
  MAX_TIMER_MS,
  numberAbove,
  type Rule,
  rule,
  shape,
  text,
  whole,
} from '../options.js'
import type { Source } from '../provider.js'
import { orderProblem } from '../references.js'
import { consumerNameProblem } from '../store/input.js'
import type { HandledTypes, NewConsumer } from '../store.js'
import { checkRetry, defaultRetry, type RetryPolicy, retryRule } from './failure.js'
import type { BatchHandler, ConsumerStart, Handler, HandlerLimit, HandlerOptions } from './handler.js'
import { Paused } from './paused.js'

const DAY_MS = 86_400_000

/** Either `handle` or `handleBatch` is set. */
export interface Registered<Tx> {
  /** With the name of the consumer, if it has one: `stripe/mail`. */
  readonly source: string
  readonly pattern: string
  readonly handle: Handler<Tx> | null
  readonly handleBatch: BatchHandler<Tx> | null
  readonly options: HandlerOptions
  readonly timeoutMs: number
  readonly retry: RetryPolicy
  active: number
  /** Moving average of the time an event holds its place; null until an attempt has ended. */
  meanMs: number | null
  /** An attempt last began or ended at this time, by the monotonic clock. */
  changedAt: number
  /** Its events no longer share transactions, despite its option `share`. */
  isolated: boolean
  readonly counters: AttemptCounters
}

const MAX_GROUP = 1_000
const MAX_LIMIT = 100_000
/** About one in a day. */
const MIN_PER_SECOND = 0.00001
const DEFAULT_BATCH = 50
/** Senders decide which types there are. */
const MAX_CACHED_TYPES = 10_000

export const fromRule: Rule = either(choice('now', 'start'), duration(1, 50 * 365 * DAY_MS))

const handlerRule = shape({
  retry: retryRule,
  timeout: duration(1, MAX_TIMER_MS),
  limit: shape({
    concurrency: whole(1, MAX_LIMIT),
    perSecond: numberAbove(MIN_PER_SECOND, MAX_LIMIT),
    by: choice('reference'),
  } satisfies Record<keyof HandlerLimit, Rule>),
  maxBatch: whole(1, MAX_TIMER_MS),
  share: whole(1, MAX_GROUP),
  order: text,
  consumer: text,
  from: fromRule,
  stale: callable,
  schema: rule('a Standard Schema validator', (value) => ['object', 'function'].includes(typeof value)),
} satisfies Record<keyof HandlerOptions, Rule>)

export function groupSize<Tx>({ handleBatch, options, isolated }: Registered<Tx>): number {
  if (handleBatch) return Math.min(MAX_GROUP, options.maxBatch ?? DEFAULT_BATCH)
  return isolated ? 1 : (options.share ?? 1)
}

type SourceTypes = ReadonlyMap<string, Pick<Source, 'typeSeparator' | 'mode' | 'labels'>>

export class Registry<Tx> {
  readonly all: Registered<Tx>[] = []
  readonly paused: Paused
  /** Each returns the destinations that are not tried now because they fail. */
  readonly circuits: (() => readonly string[])[] = []
  largestGroup = 1
  /** The named consumers of this process, by the source name of their events, and where each starts. */
  readonly consumers = new Map<string, ConsumerStart | undefined>()
  /** Types that workers of the worker API handle, by the source name of their events. */
  readonly left: HandledTypes[] = []
  /** Whether any process ever had a handler for this source that belongs to no named consumer. */
  hasMainConsumer: (source: string) => boolean = () => true
  readonly #sources: SourceTypes
  readonly #defaults: RetryPolicy
  readonly #bySource = new Map<string, Registered<Tx>[]>()
  readonly #resolved = new Map<string, Map<string, Registered<Tx> | null>>()

  constructor(sources: SourceTypes, retryDefaults: Partial<RetryPolicy>) {
    this.#sources = sources
    this.paused = new Paused(sources)
    this.#defaults = { ...defaultRetry, ...retryDefaults }
    checkRetry(this.#defaults)
  }

  add(source: string, pattern: string, handle: Handler<Tx>, options: HandlerOptions): void {
    this.#register(source, pattern, { handle, handleBatch: null }, options)
  }

  addBatch(source: string, pattern: string, handleBatch: BatchHandler<Tx>, options: HandlerOptions): void {
    if (options.share !== undefined)
      throw invalid(
        'onBatch()',
        'has no option `share`, because its events share a call already; use `maxBatch`',
      )
    this.#register(source, pattern, { handle: null, handleBatch }, options)
  }

  /** Events of these types wait for a worker. `name`: a source, or a consumer of it. */
  leaveToWorkers(name: string, types: readonly string[]): void {
    const source = followedSource(name)
    if (!this.#sources.has(source))
      throw invalid(`workers["${name}"]`, `needs a configured source; there is no source "${source}"`)
    if (name === source) {
      if (this.#sources.get(source)?.mode === 'inline')
        throw invalid(
          `workers["${name}"]`,
          'is not possible: requests handle the events of this source (mode: inline)',
        )
    } else {
      this.#consumerOf(source, { consumer: name.slice(source.length + 1) })
      this.consumers.set(name, this.consumers.get(name))
    }
    for (const pattern of types) this.left.push({ source: name, pattern })
  }

  isLeft({ source, type }: EventTypeKey): boolean {
    const separator = this.#sources.get(followedSource(source))?.typeSeparator
    return this.left.some((types) => types.source === source && handlesType(types.pattern, type, separator))
  }

  resolve(source: string, eventType: string): Registered<Tx> | null {
    let types = this.#resolved.get(source)
    if (!types) {
      types = new Map()
      this.#resolved.set(source, types)
    }
    let found = types.get(eventType)
    if (found === undefined) {
      found = this.#find(source, eventType)
      if (types.size < MAX_CACHED_TYPES) types.set(eventType, found)
    }
    return found
  }

  has({ source, type }: EventTypeKey): boolean {
    return this.resolve(source, type) !== null
  }

  /** An event without a handler here has the default policy. */
  retryOf(source: string, eventType: string): RetryPolicy {
    return this.resolve(source, eventType)?.retry ?? this.#defaults
  }

  /** True when a named consumer of this process handles the event for itself. */
  isConsumed({ source, type }: EventTypeKey): boolean {
    for (const name of this.consumers.keys())
      if (name !== source && followedSource(name) === source && this.resolve(name, type)) return true
    return false
  }

  /**
   * The sources with a handler. The events of the others are left to other processes. A source that has only named consumers
   * is one of them: its own events would wait for ever.
   */
  sources(): readonly string[] {
    const handled = [...this.#bySource.keys()]
    if (this.consumers.size === 0) return handled
    const followed = new Set([...this.consumers.keys()].map(followedSource))
    const unclaimed = [...followed].filter(
      (source) => !this.#bySource.has(source) && !this.hasMainConsumer(source),
    )
    return [...handled, ...unclaimed]
  }

  /** For the log: named consumers, and the sources whose main consumer has a handler here or a worker. */
  *ownConsumers(): Generator<[source: string, from: NewConsumer['from']]> {
    const names = new Set([...this.#bySource.keys(), ...this.left.map(({ source }) => source)])
    for (const source of names) yield [source, startOf(this.consumers.get(source))]
  }

  ofSource(source: string): readonly Registered<Tx>[] {
    return this.#bySource.get(source) ?? []
  }

  isPaused(event: EventTypeKey): boolean {
    return this.paused.of(event) !== undefined
  }

  #register(
    source: string,
    pattern: string,
    called: Pick<Registered<Tx>, 'handle' | 'handleBatch'>,
    options: HandlerOptions,
  ): void {
    checkOptions('', options, handlerRule)
    this.#checkSource(source)
    const name = this.#consumerOf(source, options)
    this.#checkPattern(name, pattern)
    const wrongOrder =
      options.order === undefined ? null : orderProblem(options.order, this.#sources.get(source)?.labels)
    if (wrongOrder)
      throw invalid(`The option \`order\` of the handler for "${pattern}" of source "${name}"`, wrongOrder)
    if (options.limit) this.#checkLimit(name, pattern, called.handleBatch !== null, options)
    if (typeof (called.handle ?? called.handleBatch) !== 'function')
      throw invalid(
        `The handler for "${pattern}" of source "${name}"`,
        'must be a function, such as async (event, ctx) => { ... }; it is the third argument of inbox.on',
      )
    const retry = { ...this.#defaults, ...options.retry }
    checkRetry(retry)
    const handler: Registered<Tx> = {
      source: name,
      pattern,
      ...called,
      options,
      timeoutMs: msOf(options.timeout, '30s'),
      retry,
      active: 0,
      meanMs: null,
      changedAt: 0,
      isolated: false,
      counters: new AttemptCounters(),
    }
    this.all.push(handler)
    const sorted = [...this.ofSource(name), handler].sort((a, b) => moreSpecificFirst(a.pattern, b.pattern))
    this.#bySource.set(name, sorted)
    if (name !== source) this.consumers.set(name, this.consumers.get(name) ?? options.from)
    this.#resolved.clear()
    this.largestGroup = Math.max(this.largestGroup, groupSize(handler))
  }

  /** The source name of its events. */
  #consumerOf(source: string, { consumer, from }: HandlerOptions): string {
    if (consumer === undefined) {
      if (from === undefined) return source
      throw invalid('The handler option `from`', 'is about a named consumer; add the option `consumer`')
    }
    const problem = consumerNameProblem(consumer)
    if (problem) throw invalid(`The consumer name "${consumer}"`, problem)
    const name = `${source}/${consumer}`
    const before = this.consumers.get(name)
    if (from !== undefined && before !== undefined && from !== before)
      throw invalid(
        `The consumer "${name}"`,
        `starts from "${before}" and from "${from}"; give all its handlers the same`,
      )
    return name
  }

  #checkSource(source: string): void {
    if (followedSource(source) !== source && this.#sources.has(followedSource(source)))
      throw invalid(
        'A handler',
        `cannot follow the consumer "${source}"; follow its source "${followedSource(source)}"`,
      )
    if (!this.#sources.has(source))
      throw invalid(
        'A handler',
        `needs a configured source; there is no source "${source}" (${hintOf(source, [...this.#sources.keys()])})`,
      )
  }

  #checkPattern(source: string, pattern: string): void {
    if (typeof pattern !== 'string' || pattern === '')
      throw invalid('A handler', 'needs an event type that is not empty')
    if (this.ofSource(source).some((handler) => handler.pattern === pattern))
      throw invalid(
        'A handler',
        `for "${pattern}" of source "${source}" is already registered; keep one of them, or give one of them a \`consumer\``,
      )
  }

  #checkLimit(
    source: string,
    pattern: string,
    isBatch: boolean,
    { limit: { concurrency, perSecond, by } = {}, share = 1 }: HandlerOptions,
  ): void {
    const what = `The option \`limit\` of the handler for "${pattern}" of source "${source}"`
    if (concurrency === undefined && perSecond === undefined)
      throw invalid(what, 'limits nothing; give it `concurrency` or `perSecond`')
    if (this.#sources.get(source)?.mode === 'inline')
      throw invalid(
        what,
        'is not possible: its events are handled in requests (mode: inline), which cannot wait; give the handler a `consumer`',
      )
    if (by !== undefined && (isBatch || share > 1))
      throw invalid(what, 'has `by`, so its events cannot share a transaction; use `on` without `share`')
    if (perSecond !== undefined && share > 1)
      throw invalid(what, 'has `perSecond`, but `share` begins several calls at once; leave one of them out')
  }

  #find(source: string, eventType: string): Registered<Tx> | null {
    const matching = (type: string) =>
      this.ofSource(source).find(({ pattern }) => globMatches(pattern, type)) ?? null
    const own = matching(eventType)
    const family = familyOf(eventType, this.#sources.get(followedSource(source))?.typeSeparator)
    const inherited = family === null ? null : matching(family)
    if (!own || !inherited) return own ?? inherited
    const ownIsMoreSpecific = !isGlob(own.pattern) || literal(own.pattern) > literal(inherited.pattern)
    return ownIsMoreSpecific ? own : inherited
  }
}

function startOf(from: ConsumerStart = 'now'): NewConsumer['from'] {
  if (from === 'now') return from
  return from === 'start' ? 0 : Math.max(0, Date.now() - msOf(from, 0))
}

function literal(pattern: string): number {
  return pattern.replaceAll('*', '').length
}
