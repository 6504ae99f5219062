/**
 * The `grants` capability: limits that hold across all processes of a log. A process is granted slots (attempts at the same
 * time) and starts (instants at which an attempt may begin), and uses them without asking again. Needed by the handler option
 * `limit`. Why: docs/decisions/0011-limits.md.
 */
import { handlesType, moreSpecificFirst } from '../glob.js'

export interface Grants {
  /** Answers in the order of the requests. All are decided by the same clock. */
  take(holder: GrantHolder, requests: readonly GrantRequest[]): Promise<Granted>
  /** Limits that are in use, of one source or of all; at most `limit`. Those that hold events back come first. */
  list(options: { readonly source?: string; readonly limit: number }): Promise<LimitState[]>
}

/** `source` and `pattern` name a handler. `key`: the reference when each reference has a limit of its own, else empty. */
export interface LimitName {
  readonly source: string
  readonly pattern: string
  readonly key: string
}

export interface GrantHolder {
  /** Of this process: a UUID. */
  readonly id: string
  /** The name under which it claims events. */
  readonly worker: string
  /** Slots are held for so long. After that they are free, once no event that `worker` claimed of this source is leased. */
  readonly leaseMs: number
}

export interface GrantRequest extends LimitName {
  /** The number of slots to hold from now on, of so many in all processes. 0 gives them back. */
  readonly slots?: { readonly wanted: number; readonly most: number }
  /** Further starts. Two starts are at least `spacingMs` apart. */
  readonly starts?: { readonly wanted: number; readonly spacingMs: number }
  /** Nothing begins for so long, in any process. */
  readonly pauseMs?: number
}

export interface Granted {
  /** The clock of the store. */
  readonly now: number
  readonly grants: readonly Grant[]
}

export interface Grant {
  /** At most those that were wanted. */
  readonly slots: number
  /** `starts` instants from `firstStartAt` on. 0 when the first one is more than a second away. */
  readonly starts: number
  readonly firstStartAt: number
  /** 0 when the limit is not paused. */
  readonly pausedUntil: number
}

export interface LimitState extends LimitName {
  /** Slots that processes hold. */
  readonly slots: number
  /** The next start that is free. In the past when there is no rate, or when nobody waits for it. */
  readonly nextStartAt: number
  /** In the past when it is not paused. */
  readonly pausedUntil: number
}

/** The limit in use of the handler that an event belongs to, for why it waits; null when there is none. */
export function limitOn(
  limits: readonly LimitState[],
  event: { readonly source: string; readonly type: string; readonly reference: string | null },
  typeSeparator?: string,
): LimitState | null {
  const own = limits.filter(
    ({ source, pattern, key }) =>
      source === event.source &&
      handlesType(pattern, event.type, typeSeparator) &&
      (key === '' || key === event.reference),
  )
  return own.sort((a, b) => moreSpecificFirst(a.pattern, b.pattern))[0] ?? null
}
