/** `addDestinations(inbox, { billing: { url, secret, source: 'stripe', types: ['invoice.*'] } })`. */
import { invalid, isHookonceError } from '../errors.js'
import { globMatches, globsMeet, moreSpecificFirst } from '../glob.js'
import type { Inbox } from '../inbox.js'
import { type CheckedDestination, checkDestination, type Destination } from './destination.js'
import { forward, type Outlet } from './forward.js'
import type { Lookup } from './guard.js'
import { createHealth, type PauseReason } from './health.js'
import { createRate } from './rate.js'

/** How a destination does, in this process. The URL is shown without its path, which may hold a token. */
export interface DestinationState {
  readonly name: string
  readonly origin: string
  readonly sources: readonly string[]
  readonly types: readonly string[]
  readonly paused: boolean
  /** `failing`: too many failures in a row. `gone`: it answered 410. `operator`: somebody paused it. */
  readonly pauseReason: PauseReason | null
  readonly pausedAt: number | null
  /** When one event will be tried; null when nothing will be until somebody resumes it. */
  readonly nextProbeAt: number | null
  readonly failuresInARow: number
  readonly active: number
  readonly sent: number
  readonly failed: number
  readonly postponed: number
  readonly lastHttpStatus: number | null
  readonly lastSentAt: number | null
  readonly lastFailedAt: number | null
  readonly lastProblem: string | null
}

export interface Destinations {
  states(): readonly DestinationState[]
  /** Its events wait, without using up attempts, until `resume`. */
  pause(name: string): void
  /** What waits comes back within its wait, seven and a half minutes at most. */
  resume(name: string): void
}

export interface ForwardOptions {
  /** How names are resolved. Default: `dns.lookup` with all addresses. */
  readonly lookup?: Lookup
  /** Milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

const added = new WeakMap<Inbox, Destinations>()

/** Those of this inbox; null when it has none. */
export function destinationsOf(inbox: Inbox): Destinations | null {
  return added.get(inbox) ?? null
}

export function destinationStates(inbox: Inbox): readonly DestinationState[] {
  return added.get(inbox)?.states() ?? []
}

export function addDestinations(
  inbox: Inbox,
  destinations: Readonly<Record<string, Destination>>,
  options: ForwardOptions = {},
): Destinations {
  if (added.has(inbox))
    throw invalid('addDestinations()', 'was already called for this inbox; pass all destinations in one call')
  const all = [...inbox.sources.keys()]
  const outlets = new Map(
    Object.entries(destinations).map(([name, given]) => [
      name,
      outletOf(inbox, checkDestination(name, given, all), options),
    ]),
  )
  for (const source of all) {
    const own = [...outlets.values()].filter(({ destination }) => destination.sources.includes(source))
    warnOfShadows(inbox, source, own)
    for (const pattern of new Set(own.flatMap(({ destination }) => destination.types)))
      register(inbox, source, pattern, own)
  }
  const named = (name: string): Outlet => {
    const found = outlets.get(name)
    if (!found)
      throw invalid(
        `The destination "${name}"`,
        `does not exist; known destinations: ${[...outlets.keys()].join(', ') || 'none'}`,
      )
    return found
  }
  const made: Destinations = {
    states: () => [...outlets.values()].map(stateOf),
    pause: (name) => named(name).health.pause(named(name).now(), 'operator'),
    resume: (name) => named(name).health.resume(),
  }
  added.set(inbox, made)
  return made
}

/**
 * A handler for each pattern, and each sends to every destination of the source that wants the type: of several patterns
 * that match, only the most specific one's handler is called.
 */
function register(inbox: Inbox, source: string, pattern: string, own: readonly Outlet[]): void {
  const most = (value: (destination: CheckedDestination) => number) =>
    Math.max(...own.map(({ destination }) => value(destination)))
  try {
    inbox.on(
      source,
      pattern,
      (event, ctx) =>
        forward(
          own.filter(({ destination }) => destination.types.some((type) => globMatches(type, event.type))),
          event,
          ctx,
        ),
      {
        // Each destination's own policy decides; this is only the most that any of them allows.
        retry: { maxAttempts: most((one) => one.retry.maxAttempts) },
        timeoutMs: most((one) => one.timeoutMs) + 10_000,
        concurrency: most((one) => one.concurrency),
      },
    )
  } catch (error) {
    if (!isHookonceError(error, 'INVALID_INPUT') || !error.message.includes('is already registered'))
      throw error
    throw invalid(
      `The type "${pattern}" of a destination of source "${source}"`,
      'already has a handler, and an event has one handler; give one of them other types',
    )
  }
}

/** A handler of the user's that comes before a destination takes events that somebody expects to be sent on. */
function warnOfShadows(inbox: Inbox, source: string, own: readonly Outlet[]): void {
  for (const handled of inbox.handled(source))
    for (const { destination } of own)
      for (const type of destination.types)
        if (handled !== type && globsMeet(handled, type) && moreSpecificFirst(handled, type) < 0)
          inbox.log.warn(
            { source, type: handled, destination: destination.name },
            'a handler takes events of this type, so they are not sent on',
          )
}

function outletOf(inbox: Inbox, destination: CheckedDestination, options: ForwardOptions): Outlet {
  const { name } = destination
  return {
    destination,
    health: createHealth({
      pauseAfter: destination.pauseAfter,
      probeEveryMs: destination.probeEveryMs,
      onChange: (paused, reason) =>
        inbox.log.warn({ destination: name, reason }, paused ? 'destination paused' : 'destination resumed'),
    }),
    rate: createRate(destination.ratePerSecond),
    lookup: options.lookup,
    now: options.now ?? Date.now,
    active: 0,
    counts: { sent: 0, failed: 0, postponed: 0 },
    lastHttpStatus: null,
    lastSentAt: null,
    lastFailedAt: null,
    lastProblem: null,
  }
}

function stateOf({ destination, health, active, counts, ...last }: Outlet): DestinationState {
  const { name, url, sources, types } = destination
  const { paused, failuresInARow } = health
  const { lastHttpStatus, lastSentAt, lastFailedAt, lastProblem } = last
  return {
    ...{ name, origin: url.origin, sources, types },
    paused: paused !== null,
    pauseReason: paused?.reason ?? null,
    pausedAt: paused?.at ?? null,
    nextProbeAt: paused?.nextProbeAt ?? null,
    failuresInARow,
    active,
    ...counts,
    ...{ lastHttpStatus, lastSentAt, lastFailedAt, lastProblem },
  }
}
