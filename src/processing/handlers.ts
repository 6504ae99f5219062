/** Which handler is for an event: exact types before globs, longer globs before shorter ones, `*` last. */
import { invalid } from '../errors.js'
import { globMatches, moreSpecificFirst } from '../glob.js'
import { callable, checkOptions, choice, MAX_TIMER_MS, type Rule, rule, shape, whole } from '../options.js'
import { checkRetry, defaultRetry, type RetryPolicy, retryRule } from './failure.js'
import type { BatchHandler, Handler, HandlerOptions } from './handler.js'

export interface Registered<Tx> {
  readonly source: string
  readonly pattern: string
  readonly handle: Handler<Tx> | null
  readonly handleBatch: BatchHandler<Tx> | null
  readonly options: HandlerOptions
  readonly retry: RetryPolicy
  /** How many of this handler run now, in this process. */
  active: number
  paused: boolean
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
  /** How an event is tried again: as its handler says, or by the defaults where it has none here. */
  retryOf(source: string, eventType: string): RetryPolicy
  /** No new attempts of a source, or of one handler of it, in this process. */
  pause(source: string, pattern?: string): void
  resume(source: string, pattern?: string): void
  readonly pausedSources: ReadonlySet<string>
  readonly all: readonly Registered<Tx>[]
  /** Events in the largest group a handler here may be given; 1 when none takes groups. */
  largestBatch(): number
}

const handlerRule = shape({
  retry: retryRule,
  timeoutMs: whole(1, MAX_TIMER_MS),
  concurrency: whole(1, MAX_TIMER_MS),
  maxBatch: whole(1, MAX_TIMER_MS),
  order: choice('reference'),
  stale: callable,
  schema: rule('a Standard Schema validator', (value) => ['object', 'function'].includes(typeof value)),
} satisfies Record<keyof HandlerOptions, Rule>)

/** Events in a group, unless its handler says otherwise. */
const DEFAULT_BATCH = 50

/** Events in the largest group that a handler may be given; 1 for a handler of single events. */
export function groupSize<Tx>({
  handleBatch,
  options,
}: Pick<Registered<Tx>, 'handleBatch' | 'options'>): number {
  return handleBatch ? Math.min(1_000, options.maxBatch ?? DEFAULT_BATCH) : 1
}

export function createHandlers<Tx>(
  sources: ReadonlySet<string>,
  retryDefaults: Partial<RetryPolicy>,
): Handlers<Tx> {
  const bySource = new Map<string, Registered<Tx>[]>()
  const all: Registered<Tx>[] = []
  const pausedSources = new Set<string>()
  let largest = 1
  /** Types come from senders: the memory is bounded. */
  const resolved = new Map<string, Map<string, Registered<Tx> | null>>()

  function named(source: string, pattern: string): Registered<Tx> {
    const found = bySource.get(source)?.find((one) => one.pattern === pattern)
    if (!found)
      throw invalid(
        'pause() and resume()',
        `need a registered handler; source "${source}" has none for "${pattern}"`,
      )
    return found
  }

  const defaults: RetryPolicy = { ...defaultRetry, ...retryDefaults }
  checkRetry(defaults)

  function resolve(source: string, eventType: string): Registered<Tx> | null {
    let types = resolved.get(source)
    if (!types) {
      types = new Map()
      resolved.set(source, types)
    }
    let found = types.get(eventType)
    if (found === undefined) {
      found = (bySource.get(source) ?? []).find((one) => globMatches(one.pattern, eventType)) ?? null
      if (types.size < 10_000) types.set(eventType, found)
    }
    return found
  }

  return {
    all,
    pausedSources,
    resolve,
    retryOf: (source, eventType) => resolve(source, eventType)?.retry ?? defaults,
    largestBatch: () => largest,
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
          `needs a configured source; there is no source "${source}", known sources: ${[...sources].join(', ') || 'none'}`,
        )
      if (typeof pattern !== 'string' || pattern === '')
        throw invalid('A handler', 'needs an event type that is not empty')
      const list = bySource.get(source) ?? []
      if (list.some((one) => one.pattern === pattern)) {
        throw invalid(
          'A handler',
          `for "${pattern}" of source "${source}" is already registered; keep one of them (a destination is a handler too)`,
        )
      }
      const retry = { ...defaults, ...options.retry }
      checkRetry(retry)
      checkOptions('', options, handlerRule)
      const one = { source, pattern, handle, handleBatch, options, retry, active: 0, paused: false }
      list.push(one)
      list.sort((a, b) => moreSpecificFirst(a.pattern, b.pattern))
      bySource.set(source, list)
      all.push(one)
      largest = Math.max(largest, groupSize(one))
      resolved.clear()
    },
  }
}
