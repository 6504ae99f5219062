/**
 * Record may claim: an event that a handler of this process can begin at once is recorded under a lease, and goes to
 * dispatch from memory, without a claim, a notification or a read of its payload. A new event is
 *
 *   wanted    it has a token and a place while its commit runs. In inline mode it needs no place, because its request runs it;
 *   leased    committed under its token. It goes to the buffer, or waits for its request for a moment;
 *   left      to the claim loop: recorded without a lease.
 *
 * A busy process wants none: its claims find many events at once, which costs less for each. All events of a batch are
 * wanted, or none, so that an event does not overtake its neighbours.
 */
import { randomUUID } from 'node:crypto'
import { timeLimits } from '../clock.js'
import type { ClaimedEvent, NewDelivery, NewEvent, RecordVerdict } from '../model.js'
import type { LogRecorder } from '../recorder.js'
import type { Backlog } from './backlog.js'
import type { Dispatch, DispatchDeps } from './dispatch.js'
import type { Registered } from './registry.js'

/** A request takes its event at once, unless it ran out of time during the commit. */
const REQUEST_MS = 1_000

interface RecordClaimsDeps<Tx> extends DispatchDeps<Tx> {
  readonly backlog: Backlog
  /** Decrypts the payload, or makes a copy that nobody else changes. */
  readonly readable: (claimed: ClaimedEvent) => ClaimedEvent
}

export interface ClaimsNow {
  readonly worker: string
  readonly leaseMs: number
  /** False while the process does not run, or one of its events may kill it. */
  mayClaim(): boolean
}

export class RecordClaims<Tx> {
  readonly #deps: RecordClaimsDeps<Tx>
  readonly #dispatch: Dispatch<Tx>
  readonly #claims: ClaimsNow
  /** Handlers of wanted events, each as often as it has some. */
  readonly #wanted: Registered<Tx>[] = []
  readonly #forRequests = new Map<number, ClaimedEvent>()
  readonly #requests = timeLimits<ClaimedEvent>(REQUEST_MS, (claimed) => this.#giveUp(claimed))

  constructor(deps: RecordClaimsDeps<Tx>, dispatch: Dispatch<Tx>, claims: ClaimsNow) {
    this.#deps = deps
    this.#dispatch = dispatch
    this.#claims = claims
  }

  async record(next: LogRecorder, deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const { worker, leaseMs } = this.#claims
    const tokens = new Map<NewEvent, string>()
    const { paused } = this.#deps.registry
    const refreshing = paused.refreshOld()
    if (refreshing) await refreshing
    const handlers = this.#want(deliveries, tokens)
    const askedAt = performance.now()
    try {
      const verdicts = await (tokens.size > 0
        ? next.record(deliveries, { worker, leaseMs, tokens })
        : next.record(deliveries))
      this.#take(leasedOf(deliveries, verdicts, tokens), askedAt)
      if (handlers === null) this.#deps.backlog.add()
      return verdicts
    } finally {
      for (const handler of handlers ?? []) this.#wanted.splice(this.#wanted.indexOf(handler), 1)
    }
  }

  /** The event that the request has recorded and runs now; null when it has no lease. */
  takeForRequest(seq: number): ClaimedEvent | null {
    const claimed = this.#forRequests.get(seq)
    if (!claimed) return null
    this.#forRequests.delete(seq)
    this.#requests.clear(claimed)
    return this.#deps.leases.has(claimed.lease.token) ? claimed : null
  }

  /** Gives tokens to events. Returns the handlers whose places they take; null when events are left. */
  #want(deliveries: readonly NewDelivery[], tokens: Map<NewEvent, string>): readonly Registered<Tx>[] | null {
    const { registry, sources, backlog } = this.#deps
    const handled: NewEvent[] = []
    const handlers: Registered<Tx>[] = []
    for (const { source, events } of deliveries) {
      const isInline = sources.get(source)?.mode === 'inline'
      for (const event of events) {
        const handler = registry.resolve(source, event.type)
        if (!handler || registry.isPaused({ source, type: event.type })) continue
        if (handler.options.limit) continue // the claim loop waits for the limit
        if (isInline) tokens.set(event, randomUUID())
        else {
          handled.push(event)
          handlers.push(handler)
        }
      }
    }
    if (handled.length > 0 && !this.#haveRoom(handlers)) {
      backlog.add()
      return null
    }
    for (const event of handled) tokens.set(event, randomUUID())
    this.#wanted.push(...handlers)
    return handlers
  }

  #haveRoom(handlers: readonly Registered<Tx>[]): boolean {
    const { places, buffer, backlog } = this.#deps
    if (!backlog.isEmpty || this.#dispatch.isStopped || !this.#claims.mayClaim()) return false
    return places.active + buffer.waiting + this.#wanted.length + handlers.length <= places.size
  }

  #take(leased: readonly ClaimedEvent[], askedAt: number): void {
    if (leased.length === 0) return
    const { leases, buffer, sources, readable } = this.#deps
    const toRun: ClaimedEvent[] = []
    for (const claimed of leased.map(readable)) {
      leases.add(claimed, askedAt)
      if (sources.get(claimed.source)?.mode === 'inline') {
        this.#forRequests.set(claimed.lease.seq, claimed)
        this.#requests.set(claimed)
      } else toRun.push(claimed)
    }
    if (this.#dispatch.isStopped) return void this.#dispatch.release(toRun)
    buffer.add(toRun)
    // The senders are answered first.
    setImmediate(() => this.#dispatch.startReady())
  }

  #giveUp(claimed: ClaimedEvent): void {
    this.#forRequests.delete(claimed.lease.seq)
    void this.#dispatch.release([claimed])
  }
}

function leasedOf(
  deliveries: readonly NewDelivery[],
  verdicts: readonly RecordVerdict[][],
  tokens: ReadonlyMap<NewEvent, string>,
): ClaimedEvent[] {
  if (tokens.size === 0) return []
  return deliveries.flatMap(({ source, headers, body, events, receivedAt }, d) =>
    events.flatMap((event, part): ClaimedEvent[] => {
      const verdict = verdicts[d]![part]!
      const token = tokens.get(event)
      if (token === undefined || verdict.status !== 'recorded' || verdict.leasedAt === undefined) return []
      const { id, type, reference, contentHash } = event
      return [
        {
          lease: { seq: verdict.seq, token },
          ...{ source, id, type, reference, receivedAt: receivedAt ?? verdict.leasedAt, part, headers, body },
          ...{ attempt: 1, tries: 1, losses: 0, run: 1 },
          contentHash: contentHash && Buffer.from(contentHash).toString('hex'),
        },
      ]
    }),
  )
}
