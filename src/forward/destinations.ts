/** The destinations of an inbox: `addDestinations(inbox, { billing: { url, secret, sources: ['stripe'], types: ['invoice.*'] } })`. */
import { invalid, isHookonceError } from '../errors.js'
import { familyOf, globMatches, globsMeet, moreSpecificFirst } from '../glob.js'
import { wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { type CheckedDestination, checkDestination, type Destination } from './destination.js'
import { type Crowd, forward, type Outlet } from './forward.js'
import type { Lookup } from './guard.js'
import { Health, type PauseReason, RateLimit, Requests } from './health.js'

/** The state of a destination in this process. The URL is shown without its path, which may contain a token. */
export interface DestinationState {
  readonly name: string
  readonly origin: string
  readonly sources: readonly string[]
  readonly types: readonly string[]
  readonly paused: boolean
  /** `failing`: too many failures in a row. `gone`: it answered 410. `operator`: an operator paused it. */
  readonly pauseReason: PauseReason | null
  readonly pausedAt: number | null
  /** When the next event is tried; null when none is tried until an operator resumes it. */
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
  /** Its events wait until `resume`, and use up no attempts. */
  pause(name: string): void
  /** Waiting events are tried again within seven and a half minutes. */
  resume(name: string): void
}

export interface ForwardOptions {
  /** How names are resolved. Default: `dns.lookup` with all addresses. */
  readonly lookup?: Lookup
  /** Milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

const added = new WeakMap<Inbox, Destinations>()

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
  const { sources, setup } = wholeInbox(inbox)
  const all = [...sources.keys()]
  const crowd: Crowd = {
    destinations: Object.keys(destinations).length,
    places: setup.concurrency,
    sending: 0,
    onEnd: new Set(),
  }
  const outlets = new Map(
    Object.entries(destinations).map(([name, destination]) => [
      name,
      outletOf(inbox, checkDestination(name, destination, all), crowd, options),
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
 * Of several matching patterns, only the handler of the most specific one is called. So the handler of a pattern sends
 * to every destination whose types match the event.
 */
function register(inbox: Inbox, source: string, pattern: string, own: readonly Outlet[]): void {
  const separator = wholeInbox(inbox).sources.get(source)?.typeSeparator
  const matches = (wanted: string, type: string) =>
    globMatches(wanted, type) || globMatches(wanted, familyOf(type, separator) ?? type)
  const largest = (value: (destination: CheckedDestination) => number) =>
    Math.max(...own.map(({ destination }) => value(destination)))
  try {
    inbox.on(
      source,
      pattern,
      (event, ctx) =>
        forward(
          own.filter(({ destination }) => destination.types.some((type) => matches(type, event.type))),
          event,
          ctx,
        ),
      {
        // The policy of each destination decides; these are the largest values of all.
        retry: { maxAttempts: largest(({ retry }) => retry.maxAttempts) },
        timeout: largest(({ timeoutMs }) => timeoutMs) + 10_000,
        // Each destination has its full number of requests while the others are slow.
        concurrency: own.reduce((sum, { destination }) => sum + destination.concurrency, 0),
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

/** A handler with a more specific pattern than that of a destination takes its events: they are not forwarded. */
function warnOfShadows(inbox: Inbox, source: string, own: readonly Outlet[]): void {
  const { handled: patterns, log } = wholeInbox(inbox)
  for (const handled of patterns(source))
    for (const { destination } of own)
      for (const type of destination.types)
        if (handled !== type && globsMeet(handled, type) && moreSpecificFirst(handled, type) < 0)
          log.warn(
            { source, type: handled, destination: destination.name },
            'events of this type have a handler, so they are not forwarded to this destination',
          )
}

function outletOf(
  inbox: Inbox,
  destination: CheckedDestination,
  crowd: Crowd,
  options: ForwardOptions,
): Outlet {
  const { name } = destination
  return {
    destination,
    health: new Health({
      pauseAfter: destination.pauseAfter,
      probeEveryMs: destination.probeEveryMs,
      onChange: (paused, reason) =>
        wholeInbox(inbox).log.warn(
          { destination: name, reason },
          paused ? 'destination paused' : 'destination resumed',
        ),
    }),
    rate: destination.ratePerSecond === null ? null : new RateLimit(destination.ratePerSecond),
    requests: new Requests(),
    crowd,
    lookup: options.lookup,
    now: options.now ?? Date.now,
    counts: { sent: 0, failed: 0, postponed: 0 },
    lastHttpStatus: null,
    lastSentAt: null,
    lastFailedAt: null,
    lastProblem: null,
  }
}

function stateOf({ destination, health, requests, counts, ...last }: Outlet): DestinationState {
  const { name, url, sources, types } = destination
  const { paused, failuresInARow } = health
  const { lastHttpStatus, lastSentAt, lastFailedAt, lastProblem } = last
  return {
    name,
    origin: url.origin,
    sources,
    types,
    paused: paused !== null,
    pauseReason: paused?.reason ?? null,
    pausedAt: paused?.at ?? null,
    nextProbeAt: paused?.nextProbeAt ?? null,
    failuresInARow,
    active: requests.active,
    ...counts,
    lastHttpStatus,
    lastSentAt,
    lastFailedAt,
    lastProblem,
  }
}
