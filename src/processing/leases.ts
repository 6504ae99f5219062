/**
 * The leases this process holds: extended by a heartbeat while their events wait or run, lost when the store says so or
 * when nobody could extend them in time.
 */
import { type Counters, countStoreError } from '../counters.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent, Lease } from '../model.js'
import type { Store } from '../store.js'
import { leaseLost } from './handle.js'
import type { Session } from './session.js'

export interface Leases<Tx> {
  readonly size: number
  has(token: string): boolean
  /** `askedAt`: when the claim was sent, by this process's steady clock. */
  hold(claimed: ClaimedEvent, askedAt: number): void
  drop(lease: Lease): void
  /** The events of this session run now: a lost lease aborts it. */
  attach(session: Session<Tx>): void
  /** Aborts every session that runs. */
  abortAll(reason: () => Error): void
  /** Starts the heartbeat. It ends by itself when nothing is held and `isIdle` says so. */
  keepAlive(): void
  end(): void
}

interface Held<Tx> {
  readonly claimed: ClaimedEvent
  /** Null while it waits in the buffer. */
  session: Session<Tx> | null
  /** When the lease ends by this process's steady clock, if it is not extended. */
  until: number
}

export interface LeaseOptions {
  readonly leaseMs: number
  isIdle(): boolean
  /** The lease of an event that had not begun is lost. */
  lostUnstarted(claimed: ClaimedEvent): void
}

export function createLeases<Tx>(
  { store, counters, log }: { readonly store: Store<Tx>; readonly counters: Counters; readonly log: Logger },
  { leaseMs, isIdle, lostUnstarted }: LeaseOptions,
): Leases<Tx> {
  /** By token: an event that was lost and claimed again here is held twice until its first attempt ends. */
  const held = new Map<string, Held<Tx>>()
  let beat: NodeJS.Timeout | undefined

  async function heartbeat(): Promise<void> {
    const entries = [...held.values()]
    if (entries.length === 0) return
    const askedAt = performance.now()
    try {
      const alive = await store.extend(
        entries.map((entry) => entry.claimed.lease),
        leaseMs,
      )
      entries.forEach((entry, i) => {
        if (alive[i]) entry.until = askedAt + leaseMs
        else if (held.has(entry.claimed.lease.token)) lose(entry)
      })
    } catch (error) {
      log.warn(
        { step: 'claim', code: countStoreError(counters, error) },
        'could not extend leases; trying again',
      )
      for (const entry of entries) if (entry.until < performance.now()) lose(entry)
    }
  }

  function lose({ claimed, session }: Held<Tx>): void {
    if (session) {
      session.abort(leaseLost(claimed))
      return
    }
    counters.of(claimed.source).leasesLost++
    held.delete(claimed.lease.token)
    lostUnstarted(claimed)
  }

  function end(): void {
    clearInterval(beat)
    beat = undefined
  }

  return {
    get size() {
      return held.size
    },
    has: (token) => held.has(token),
    hold(claimed, askedAt) {
      held.set(claimed.lease.token, { claimed, session: null, until: askedAt + leaseMs })
    },
    drop: ({ token }) => void held.delete(token),
    attach(session) {
      for (const { lease } of session.claimed) {
        const entry = held.get(lease.token)
        if (entry) entry.session = session
      }
    },
    abortAll(reason) {
      for (const { session } of held.values()) session?.abort(reason())
    },
    keepAlive() {
      if (beat) return
      beat = setInterval(
        () => {
          if (isIdle() && held.size === 0) end()
          else void heartbeat()
        },
        Math.max(10, leaseMs / 3),
      )
      beat.unref()
    },
    end,
  }
}
