/**
 * The registered handlers. The most specific one is called: exact types before globs, longer globs before shorter, `*` last.
 * Where types have a family (`pull_request` of `pull_request.opened`), patterns that match only the family match too, after
 * the exact type and longer globs: `pull_request.*` goes before `pull_request`, and that before `pull_*`.
 */
import { AttemptCounters } from '../counters.js'
import { msOf } from '../duration.js'
import { invalid } from '../errors.js'
import { familyOf, globMatches, isGlob, moreSpecificFirst } from '../glob.js'
import type { EventTypeKey } from '../model.js'
import {
  callable,
  checkOptions,
  choice,
  duration,
  MAX_TIMER_MS,
  type Rule,
  rule,
  shape,
  whole,
} from '../options.js'
import type { Source } from '../provider.js'
import { checkRetry, defaultRetry, type RetryPolicy, retryRule } from './failure.js'
import type { BatchHandler, Handler, HandlerOptions } from './handler.js'

/** Either `handle` or `handleBatch` is set. */
export interface Registered<Tx> {
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
  paused: boolean
  /** Its events no longer share transactions, despite its option `share`. */
  isolated: boolean
  readonly counters: AttemptCounters
}

const MAX_GROUP = 1_000
const DEFAULT_BATCH = 50
/** Senders decide which types there are. */
const MAX_CACHED_TYPES = 10_000

const handlerRule = shape({
  retry: retryRule,
  timeout: duration(1, MAX_TIMER_MS),
  concurrency: whole(1, MAX_TIMER_MS),
  maxBatch: whole(1, MAX_TIMER_MS),
  share: whole(1, MAX_GROUP),
  order: choice('reference'),
  stale: callable,
  schema: rule('a Standard Schema validator', (value) => ['object', 'function'].includes(typeof value)),
} satisfies Record<keyof HandlerOptions, Rule>)

export function groupSize<Tx>({ handleBatch, options, isolated }: Registered<Tx>): number {
  if (handleBatch) return Math.min(MAX_GROUP, options.maxBatch ?? DEFAULT_BATCH)
  return isolated ? 1 : (options.share ?? 1)
}

type SourceTypes = ReadonlyMap<string, Pick<Source, 'typeSeparator'>>

export class Registry<Tx> {
  readonly all: Registered<Tx>[] = []
  readonly pausedSources = new Set<string>()
  largestGroup = 1
  readonly #sources: SourceTypes
  readonly #defaults: RetryPolicy
  readonly #bySource = new Map<string, Registered<Tx>[]>()
  readonly #resolved = new Map<string, Map<string, Registered<Tx> | null>>()

  constructor(sources: SourceTypes, retryDefaults: Partial<RetryPolicy>) {
    this.#sources = sources
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

  /** The sources with a handler. The events of the others are left to other processes. */
  sources(): readonly string[] {
    return [...this.#bySource.keys()]
  }

  ofSource(source: string): readonly Registered<Tx>[] {
    return this.#bySource.get(source) ?? []
  }

  /** Starts no new attempts of a source, or of one of its handlers, in this process. */
  pause(source: string, pattern?: string): void {
    if (pattern !== undefined) this.#named(source, pattern).paused = true
    else if (this.#sources.has(source)) this.pausedSources.add(source)
    else throw invalid('pause()', `needs a configured source; there is no source "${source}"`)
  }

  resume(source: string, pattern?: string): void {
    if (pattern !== undefined) this.#named(source, pattern).paused = false
    else this.pausedSources.delete(source)
  }

  isPaused({ source, type }: EventTypeKey): boolean {
    return this.pausedSources.has(source) || this.resolve(source, type)?.paused === true
  }

  #register(
    source: string,
    pattern: string,
    called: Pick<Registered<Tx>, 'handle' | 'handleBatch'>,
    options: HandlerOptions,
  ): void {
    this.#checkPattern(source, pattern)
    const retry = { ...this.#defaults, ...options.retry }
    checkRetry(retry)
    checkOptions('', options, handlerRule)
    const handler: Registered<Tx> = {
      source,
      pattern,
      ...called,
      options,
      timeoutMs: msOf(options.timeout, '30s'),
      retry,
      active: 0,
      meanMs: null,
      changedAt: 0,
      paused: false,
      isolated: false,
      counters: new AttemptCounters(),
    }
    this.all.push(handler)
    const sorted = [...this.ofSource(source), handler].sort((a, b) => moreSpecificFirst(a.pattern, b.pattern))
    this.#bySource.set(source, sorted)
    this.#resolved.clear()
    this.largestGroup = Math.max(this.largestGroup, groupSize(handler))
  }

  #checkPattern(source: string, pattern: string): void {
    if (!this.#sources.has(source))
      throw invalid(
        'A handler',
        `needs a configured source; there is no source "${source}", known sources: ${[...this.#sources.keys()].join(', ') || 'none'}`,
      )
    if (typeof pattern !== 'string' || pattern === '')
      throw invalid('A handler', 'needs an event type that is not empty')
    if (this.ofSource(source).some((handler) => handler.pattern === pattern))
      throw invalid(
        'A handler',
        `for "${pattern}" of source "${source}" is already registered; keep one of them (a destination is a handler too)`,
      )
  }

  #named(source: string, pattern: string): Registered<Tx> {
    const found = this.ofSource(source).find((handler) => handler.pattern === pattern)
    if (!found)
      throw invalid(
        'pause() and resume()',
        `need a registered handler; source "${source}" has none for "${pattern}"`,
      )
    return found
  }

  #find(source: string, eventType: string): Registered<Tx> | null {
    const matching = (type: string) =>
      this.ofSource(source).find(({ pattern }) => globMatches(pattern, type)) ?? null
    const own = matching(eventType)
    const family = familyOf(eventType, this.#sources.get(source)?.typeSeparator)
    const inherited = family === null ? null : matching(family)
    if (!own || !inherited) return own ?? inherited
    const ownIsMoreSpecific = !isGlob(own.pattern) || literal(own.pattern) > literal(inherited.pattern)
    return ownIsMoreSpecific ? own : inherited
  }
}

function literal(pattern: string): number {
  return pattern.replaceAll('*', '').length
}
