/**
 * The registered handlers. The most specific one is called: exact types before globs, longer globs before shorter, `*` last.
 * Where types have a family (`pull_request` of `pull_request.opened`), patterns that match only the family match too: after
 * the exact type and longer globs, so that `pull_request.*` goes before `pull_request`, and that before `pull_*`.
 */
import { createHandlerCounters, type HandlerCounters } from '../counters.js'
import { invalid } from '../errors.js'
import { familyOf, globMatches, isGlob, moreSpecificFirst } from '../glob.js'
import { callable, checkOptions, choice, MAX_TIMER_MS, type Rule, rule, shape, whole } from '../options.js'
import type { Source } from '../provider.js'
import { checkRetry, defaultRetry, type RetryPolicy, retryRule } from './failure.js'
import type { BatchHandler, Handler, HandlerOptions } from './handler.js'

export interface Registered<Tx> {
  readonly source: string
  readonly pattern: string
  readonly handle: Handler<Tx> | null
  readonly handleBatch: BatchHandler<Tx> | null
  readonly options: HandlerOptions
  readonly retry: RetryPolicy
  /** Attempts of this handler that run now in this process. */
  active: number
  /** The time for which an event occupies a place, as a moving average; null until an attempt has ended. */
  meanMs: number | null
  /** When an attempt last began or ended, by the monotonic clock. */
  changedAt: number
  paused: boolean
  /** True when it was found that the handler must not share transactions, despite its option `share`. */
  isolated: boolean
  readonly counters: HandlerCounters
}

export interface Handlers<Tx> {
  add(
    source: string,
    pattern: string,
    handle: Handler<Tx> | null,
    handleBatch: BatchHandler<Tx> | null,
    options: HandlerOptions,
  ): void
  resolve(source: string, eventType: string): Registered<Tx> | null
  /** The retry policy of an event: that of its handler, or the default when it has no handler here. */
  retryOf(source: string, eventType: string): RetryPolicy
  /** Starts no new attempts of a source, or of one of its handlers, in this process. */
  pause(source: string, pattern?: string): void
  resume(source: string, pattern?: string): void
  readonly pausedSources: ReadonlySet<string>
  /** Whether the source of the event or its handler is paused. */
  isPaused(event: { readonly source: string; readonly eventType: string }): boolean
  readonly all: readonly Registered<Tx>[]
  /** The sources with a handler. The events of the others are left to other processes. */
  sources(): readonly string[]
  /** Events in the largest group of a handler; 1 when every event has its own attempt. */
  largestGroup(): number
}

/** The most events of a group. */
const MAX_GROUP = 1_000

const handlerRule = shape({
  retry: retryRule,
  timeoutMs: whole(1, MAX_TIMER_MS),
  concurrency: whole(1, MAX_TIMER_MS),
  maxBatch: whole(1, MAX_TIMER_MS),
  share: whole(1, MAX_GROUP),
  order: choice('reference'),
  stale: callable,
  schema: rule('a Standard Schema validator', (value) => ['object', 'function'].includes(typeof value)),
} satisfies Record<keyof HandlerOptions, Rule>)

/** Default of `maxBatch`. */
const DEFAULT_BATCH = 50

/** The most events that one attempt of this handler takes. */
export function groupSize<Tx>({
  handleBatch,
  options,
  isolated,
}: Pick<Registered<Tx>, 'handleBatch' | 'options' | 'isolated'>): number {
  if (handleBatch) return Math.min(MAX_GROUP, options.maxBatch ?? DEFAULT_BATCH)
  return isolated ? 1 : (options.share ?? 1)
}

/** The number of characters that are not a star. */
function literal(pattern: string): number {
  return pattern.replaceAll('*', '').length
}

export function createHandlers<Tx>(
  sources: ReadonlyMap<string, Pick<Source, 'typeSeparator'>>,
  retryDefaults: Partial<RetryPolicy>,
): Handlers<Tx> {
  const bySource = new Map<string, Registered<Tx>[]>()
  const all: Registered<Tx>[] = []
  const pausedSources = new Set<string>()
  let largest = 1
  /** A cache. Senders decide which types there are, so its size is limited. */
  const resolved = new Map<string, Map<string, Registered<Tx> | null>>()

  function named(source: string, pattern: string): Registered<Tx> {
    const found = bySource.get(source)?.find((handler) => handler.pattern === pattern)
    if (!found)
      throw invalid(
        'pause() and resume()',
        `need a registered handler; source "${source}" has none for "${pattern}"`,
      )
    return found
  }

  const defaults: RetryPolicy = { ...defaultRetry, ...retryDefaults }
  checkRetry(defaults)

  function find(source: string, eventType: string): Registered<Tx> | null {
    const matching = (type: string) =>
      bySource.get(source)?.find(({ pattern }) => globMatches(pattern, type)) ?? null
    const own = matching(eventType)
    const family = familyOf(eventType, sources.get(source)?.typeSeparator)
    const inherited = family === null ? null : matching(family)
    if (!own || !inherited) return own ?? inherited
    const ownIsMoreSpecific = !isGlob(own.pattern) || literal(own.pattern) > literal(inherited.pattern)
    return ownIsMoreSpecific ? own : inherited
  }

  function resolve(source: string, eventType: string): Registered<Tx> | null {
    let types = resolved.get(source)
    if (!types) {
      types = new Map()
      resolved.set(source, types)
    }
    let found = types.get(eventType)
    if (found === undefined) {
      found = find(source, eventType)
      if (types.size < 10_000) types.set(eventType, found)
    }
    return found
  }

  return {
    all,
    pausedSources,
    resolve,
    sources: () => [...bySource.keys()],
    retryOf: (source, eventType) => resolve(source, eventType)?.retry ?? defaults,
    isPaused: ({ source, eventType }) =>
      pausedSources.has(source) || resolve(source, eventType)?.paused === true,
    largestGroup: () => largest,
    pause(source, pattern) {
      if (pattern !== undefined) named(source, pattern).paused = true
      else if (sources.has(source)) pausedSources.add(source)
      else throw invalid('pause()', `needs a configured source; there is no source "${source}"`)
    },
    resume(source, pattern) {
      if (pattern !== undefined) named(source, pattern).paused = false
      else pausedSources.delete(source)
    },
    add(source, pattern, handle, handleBatch, options) {
      if (!sources.has(source))
        throw invalid(
          'A handler',
          `needs a configured source; there is no source "${source}", known sources: ${[...sources.keys()].join(', ') || 'none'}`,
        )
      if (typeof pattern !== 'string' || pattern === '')
        throw invalid('A handler', 'needs an event type that is not empty')
      const list = bySource.get(source) ?? []
      if (list.some((handler) => handler.pattern === pattern)) {
        throw invalid(
          'A handler',
          `for "${pattern}" of source "${source}" is already registered; keep one of them (a destination is a handler too)`,
        )
      }
      const retry = { ...defaults, ...options.retry }
      checkRetry(retry)
      checkOptions('', options, handlerRule)
      if (handleBatch && options.share !== undefined)
        throw invalid(
          'onBatch()',
          'has no option `share`, because its events share a call already; use `maxBatch`',
        )
      const state = {
        active: 0,
        meanMs: null,
        changedAt: 0,
        paused: false,
        isolated: false,
        counters: createHandlerCounters(),
      }
      const handler = { source, pattern, handle, handleBatch, options, retry, ...state }
      list.push(handler)
      list.sort((a, b) => moreSpecificFirst(a.pattern, b.pattern))
      bySource.set(source, list)
      all.push(handler)
      largest = Math.max(largest, groupSize(handler))
      resolved.clear()
    },
  }
}
