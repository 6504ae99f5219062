/** The destinations of an inbox: `addDestinations(inbox, { billing: { url, secret, sources: ['stripe'], types: ['invoice.*'] } })`. */

import { countStoreError } from '../counters.js'
import { invalid } from '../errors.js'
import { wholeInbox } from '../inbox/internals.js'
import type { PauseOptions } from '../inbox/pauses.js'
import type { Inbox } from '../inbox.js'
import { type CheckedDestination, checkDestination, type Destination } from './destination.js'
import { forward, type Outlet } from './forward.js'
import type { Lookup } from './guard.js'
import { Health, RateLimit, Requests } from './health.js'

/** `failing`: its circuit is open in this process. `gone`: it answered 410. `operator`: an operator paused it. */
export type PauseReason = 'failing' | 'gone' | 'operator'

/** The state of a destination in this process. The URL is shown without its path, which may contain a token. */
export interface DestinationState {
  readonly name: string
  readonly origin: string
  readonly sources: readonly string[]
  readonly types: readonly string[]
  readonly paused: boolean
  readonly pauseReason: PauseReason | null
  /** Who paused it, for all processes of the log; null when nobody has. */
  readonly pausedBy: string | null
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
  /** Its events wait until `resume`, in all processes of the log, and use up no attempts. */
  pause(name: string, by?: PauseOptions): Promise<void>
  /** Also tries an endpoint again at once that was failing here. */
  resume(name: string, by?: PauseOptions): Promise<void>
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
  const all = [...wholeInbox(inbox).sources.keys()]
  let circuitsChanged = (): void => {}
  const outlets = new Map(
    Object.entries(destinations).map(([name, destination]) => [
      name,
      outletOf(inbox, checkDestination(name, destination, all), options, () => circuitsChanged()),
    ]),
  )
  const openOnes = () =>
    [...outlets.values()].flatMap(({ health, destination }) => (health.open ? consumersOf(destination) : []))
  circuitsChanged = wholeInbox(inbox).reportCircuits(openOnes)
  for (const outlet of outlets.values())
    for (const source of outlet.destination.sources) register(inbox, source, outlet)
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
    states: () => [...outlets.values()].map((outlet) => stateOf(inbox, outlet)),
    async pause(name, by) {
      for (const consumer of consumersOf(named(name).destination)) await inbox.pause(consumer, undefined, by)
    },
    async resume(name, by) {
      const { destination, health } = named(name)
      for (const consumer of consumersOf(destination)) await inbox.resume(consumer, undefined, by)
      health.close()
    },
  }
  added.set(inbox, made)
  return made
}

/** A destination has a consumer of each of its sources. */
function consumersOf({ name, sources }: CheckedDestination): string[] {
  return sources.map((source) => `${source}/${name}`)
}

function register(inbox: Inbox, source: string, outlet: Outlet): void {
  const { name, types, retry, timeoutMs, from } = outlet.destination
  if (wholeInbox(inbox).handled(`${source}/${name}`).length > 0)
    throw invalid(
      `The destination "${name}"`,
      `has the name of a consumer of "${source}"; give one of them another name`,
    )
  for (const type of types)
    inbox.on(source, type, (event, ctx) => forward(outlet, event, ctx), {
      consumer: name,
      ...(from !== undefined && { from }),
      retry,
      // The request has its own time limit.
      timeout: timeoutMs + 10_000,
    })
}

function outletOf(
  inbox: Inbox,
  destination: CheckedDestination,
  options: ForwardOptions,
  circuitsChanged: () => void,
): Outlet {
  const { name } = destination
  return {
    destination,
    health: new Health({
      pauseAfter: destination.pauseAfter,
      probeEveryMs: destination.probeEveryMs,
      onChange(isOpen) {
        wholeInbox(inbox).log.warn(
          { destination: name, ...(isOpen && { reason: 'failing' }) },
          isOpen ? 'destination paused' : 'destination resumed',
        )
        circuitsChanged()
      },
    }),
    gone: () => pauseGone(inbox, destination),
    rate: destination.ratePerSecond === null ? null : new RateLimit(destination.ratePerSecond),
    requests: new Requests(),
    lookup: options.lookup,
    now: options.now ?? Date.now,
    counts: { sent: 0, failed: 0, postponed: 0 },
    lastHttpStatus: null,
    lastSentAt: null,
    lastFailedAt: null,
    lastProblem: null,
  }
}

/** A failure is only logged: the next event of the destination tries again. */
async function pauseGone(inbox: Inbox, destination: CheckedDestination): Promise<void> {
  const { log, counters } = wholeInbox(inbox)
  const { name } = destination
  try {
    for (const consumer of consumersOf(destination))
      await inbox.pause(consumer, undefined, { actor: GONE_ACTOR, note: 'it answered 410, it is gone' })
    log.warn({ destination: name, reason: 'gone' }, 'destination paused')
  } catch (error) {
    log.error(
      { destination: name, code: countStoreError(counters, error) },
      'a destination that is gone could not be paused',
    )
  }
}

/** Operators have names of tokens or users. */
const GONE_ACTOR = 'hookonce'

function stateOf(inbox: Inbox, { destination, health, requests, counts, ...last }: Outlet): DestinationState {
  const { name, url, sources, types } = destination
  const { open, failuresInARow } = health
  const [pause] = consumersOf(destination).flatMap(
    (consumer) => wholeInbox(inbox).paused.ofSource(consumer) ?? [],
  )
  const { lastHttpStatus, lastSentAt, lastFailedAt, lastProblem } = last
  return {
    name,
    origin: url.origin,
    sources,
    types,
    paused: pause !== undefined || open !== null,
    pauseReason: pause ? (pause.actor === GONE_ACTOR ? 'gone' : 'operator') : open ? 'failing' : null,
    pausedBy: pause?.actor ?? null,
    pausedAt: pause?.at ?? open?.at ?? null,
    nextProbeAt: pause ? null : (open?.nextProbeAt ?? null),
    failuresInARow,
    active: requests.active,
    ...counts,
    lastHttpStatus,
    lastSentAt,
    lastFailedAt,
    lastProblem,
  }
}
