/**
 * Leases that this process holds, and the sessions that run under them. A heartbeat extends all leases while there are any. A
 * lease is lost when the store says so, or when it could not be extended before it expired. A leased event is
 *
 *   waiting   in the buffer, without a session. It is removed when its lease is lost;
 *   running   in a session, which a lost lease aborts. The attempt then drops its own lease when it ends.
 */
import { countStoreError } from '../counters.js'
import type { ClaimedEvent, Lease } from '../model.js'
import type { AttemptDeps } from './attempt.js'
import type { EventBuffer } from './buffer.js'
import { leaseLost, Stopping } from './result.js'
import type { Session } from './session.js'

type LeasesDeps<Tx> = Pick<AttemptDeps<Tx>, 'store' | 'counters' | 'log'>

interface LeasedEvent<Tx> {
  readonly claimed: ClaimedEvent
  session: Session<Tx> | null
  /** Lost while it ran, so its session was aborted; another session of it must not begin. */
  isLost: boolean
  /** Monotonic clock of this process. Each heartbeat moves it on. */
  expiresAt: number
}

export class Leases<Tx> {
  readonly #deps: LeasesDeps<Tx>
  readonly #leaseMs: number
  readonly #buffer: Pick<EventBuffer<Tx>, 'remove'>
  /** An event that was lost and claimed again here has two leases until its first attempt ends. */
  readonly #byToken = new Map<string, LeasedEvent<Tx>>()
  #heartbeat: NodeJS.Timeout | undefined
  #isAborting = false

  constructor(deps: LeasesDeps<Tx>, leaseMs: number, buffer: Pick<EventBuffer<Tx>, 'remove'>) {
    this.#deps = deps
    this.#leaseMs = leaseMs
    this.#buffer = buffer
  }

  has(token: string): boolean {
    return this.#byToken.has(token)
  }

  /** `askedAt`: when the claim was sent, by the monotonic clock of this process. */
  add(claimed: ClaimedEvent, askedAt: number): void {
    this.#byToken.set(claimed.lease.token, {
      claimed,
      session: null,
      isLost: false,
      expiresAt: askedAt + this.#leaseMs,
    })
    this.#heartbeat ??= setInterval(() => this.#beat(), Math.max(10, this.#leaseMs / 3)).unref()
  }

  drop({ token }: Lease): void {
    this.#byToken.delete(token)
  }

  attach(session: Session<Tx>): void {
    for (const claimed of session.claimed) {
      const event = this.#byToken.get(claimed.lease.token)
      if (!event) continue
      event.session = session
      if (event.isLost) session.abort(leaseLost(claimed))
    }
    if (this.#isAborting) session.abort(stopping())
  }

  /** These events wait in the buffer again. */
  detach(claimed: readonly ClaimedEvent[]): void {
    for (const { lease } of claimed) {
      const event = this.#byToken.get(lease.token)
      if (event) event.session = null
    }
  }

  /** The process stops: aborts running sessions, and from now on sessions that begin. */
  abortAll(): void {
    this.#isAborting = true
    for (const { session } of this.#byToken.values()) session?.abort(stopping())
  }

  allowSessions(): void {
    this.#isAborting = false
  }

  endHeartbeat(): void {
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }

  #beat(): void {
    if (this.#byToken.size === 0) this.endHeartbeat()
    else {
      this.#loseExpired() // the store may not have answered the last heartbeats
      void this.#extendAll()
    }
  }

  #loseExpired(): void {
    const now = performance.now()
    for (const event of [...this.#byToken.values()])
      if (event.expiresAt < now && !event.isLost) this.#lose(event)
  }

  async #extendAll(): Promise<void> {
    const { store, counters, log } = this.#deps
    const events = [...this.#byToken.values()]
    const askedAt = performance.now()
    try {
      const alive = await store.extend(
        events.map(({ claimed }) => claimed.lease),
        this.#leaseMs,
      )
      for (const [i, event] of events.entries()) {
        if (alive[i]) event.expiresAt = askedAt + this.#leaseMs
        else if (this.has(event.claimed.lease.token)) this.#lose(event)
      }
    } catch (error) {
      log.warn(
        { step: 'claim', code: countStoreError(counters, error) },
        'leases could not be extended; trying again',
      )
      this.#loseExpired()
    }
  }

  #lose(event: LeasedEvent<Tx>): void {
    const { claimed, session } = event
    if (session) {
      event.isLost = true
      session.abort(leaseLost(claimed))
      return
    }
    this.#deps.counters.of(claimed.source).leasesLost++
    this.#byToken.delete(claimed.lease.token)
    this.#buffer.remove(claimed)
  }
}

function stopping(): Stopping {
  return new Stopping('the process is stopping')
}
