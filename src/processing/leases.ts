/**
 * The leases of this process. A heartbeat extends them while their events wait or run. A lease is lost when the store says
 * so, or when it could not be extended before it expired.
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
  /** `askedAt`: when the claim was sent, by the monotonic clock of this process. */
  add(claimed: ClaimedEvent, askedAt: number): void
  drop(lease: Lease): void
  /** The events of this session run now: a lost lease aborts the session. */
  attach(session: Session<Tx>): void
  /** These events wait in the buffer again. */
  detach(claimed: readonly ClaimedEvent[]): void
  /** Aborts every running session. */
  abortAll(reason: () => Error): void
  /** Starts the heartbeat. It ends when there are no leases and `isIdle` is true. */
  keepAlive(): void
  end(): void
}

export interface LeaseOptions {
  readonly leaseMs: number
  isIdle(): boolean
  /** Called when the lease of an event is lost before its attempt has begun. */
  onLostInBuffer(claimed: ClaimedEvent): void
}

interface LeasedEvent<Tx> {
  readonly claimed: ClaimedEvent
  /** Null while the event waits in the buffer. */
  session: Session<Tx> | null
  /** When the lease expires by the monotonic clock of this process, if it is not extended. */
  expiresAt: number
}

export function createLeases<Tx>(
  { store, counters, log }: { readonly store: Store<Tx>; readonly counters: Counters; readonly log: Logger },
  { leaseMs, isIdle, onLostInBuffer }: LeaseOptions,
): Leases<Tx> {
  /** By token: an event that was lost and claimed again here has two leases until its first attempt ends. */
  const leased = new Map<string, LeasedEvent<Tx>>()
  let heartbeat: NodeJS.Timeout | undefined

  async function extendAll(): Promise<void> {
    const events = [...leased.values()]
    if (events.length === 0) return
    const askedAt = performance.now()
    try {
      const alive = await store.extend(
        events.map(({ claimed }) => claimed.lease),
        leaseMs,
      )
      for (const [i, event] of events.entries()) {
        if (alive[i]) event.expiresAt = askedAt + leaseMs
        else if (leased.has(event.claimed.lease.token)) lose(event)
      }
    } catch (error) {
      log.warn(
        { step: 'claim', code: countStoreError(counters, error) },
        'leases could not be extended; trying again',
      )
      for (const event of events) if (event.expiresAt < performance.now()) lose(event)
    }
  }

  /** An attempt that is aborted drops its own lease when it ends. */
  function lose({ claimed, session }: LeasedEvent<Tx>): void {
    if (session) {
      session.abort(leaseLost(claimed))
      return
    }
    counters.of(claimed.source).leasesLost++
    leased.delete(claimed.lease.token)
    onLostInBuffer(claimed)
  }

  function setSession(claimed: readonly ClaimedEvent[], session: Session<Tx> | null): void {
    for (const { lease } of claimed) {
      const event = leased.get(lease.token)
      if (event) event.session = session
    }
  }

  function end(): void {
    clearInterval(heartbeat)
    heartbeat = undefined
  }

  return {
    get size() {
      return leased.size
    },
    has: (token) => leased.has(token),
    add(claimed, askedAt) {
      leased.set(claimed.lease.token, { claimed, session: null, expiresAt: askedAt + leaseMs })
    },
    drop: ({ token }) => void leased.delete(token),
    attach: (session) => setSession(session.claimed, session),
    detach: (claimed) => setSession(claimed, null),
    abortAll(reason) {
      for (const { session } of leased.values()) session?.abort(reason())
    },
    keepAlive() {
      if (heartbeat) return
      heartbeat = setInterval(
        () => {
          if (isIdle() && leased.size === 0) end()
          else void extendAll()
        },
        Math.max(10, leaseMs / 3),
      )
      heartbeat.unref()
    },
    end,
  }
}
