/** A log of random events in all situations, the same in each run, to search and to count. */
import type { EventFilter, EventRecord, NewDelivery, Outcome } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { CaseHarness } from './harness.js'
import {
  attempt,
  bytes,
  claimOne,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  flush,
  ignored,
  key,
  LEASE_MS,
  operate,
  pick,
  random,
  range,
  record,
  sha256,
  succeeded,
} from './support.js'

/** Characters that mean something in LIKE or GLOB stand here for themselves, and case matters. */
export const types = [
  'invoice.paid',
  'invoice.paid.late',
  'Invoice.paid',
  'invoice_paid',
  'invoice%paid',
  'customer[1]',
  'customer?',
  'customer.created',
]
export const sources = ['shop', 'Shop', 'crm_1']
const references = [null, null, 'order 1', 'order 2', 'ORDER 1', 'order_1']
const outcomes: readonly (Outcome | null)[] = [
  null,
  succeeded,
  succeeded,
  ignored,
  { kind: 'ignored', reason: 'unhandled' },
  failedFor(1_000 * LEASE_MS),
  failedFor(0),
  dead,
]

export async function fillSample(store: CompleteStore, harness: CaseHarness, count: number): Promise<void> {
  const next = random(count)
  const deliveries = range(count).map((i): NewDelivery => {
    const source = pick(next, sources)
    const guard = next() < 0.1 ? { guardHash: sha256('known bytes') } : {}
    const id = next() < 0.2 ? `shared ${i % 10}` : `e${i}`
    return delivery(
      event(id, { eventType: pick(next, types), reference: pick(next, references), ...guard }),
      {
        source,
        onReplayedContent: next() < 0.5 ? 'flag' : 'review',
        receivedAt: Date.now() - Math.floor(next() * 10) * DAY_MS - Math.floor(next() * 3_600_000),
      },
    )
  })
  await record(store, ...deliveries)
  for (const { source, events } of deliveries) {
    const of = key(events[0]!.eventId, source)
    const found = await store.get(of)
    if (found?.state === 'pending') {
      for (const outcome of range(Math.ceil(next() * 2)).map(() => pick(next, outcomes))) {
        if (outcome) await attempt(store, of, outcome)
        if (outcome?.kind !== 'failed' || outcome.retryInMs === null) break
      }
    }
    const now = (await store.get(of))!
    if (now.state === 'succeeded' && next() < 0.2) await operate(store, 'replay', of, { force: true })
    if (now.reason === 'out of tries' && next() < 0.2) await operate(store, 'retry', of)
    if (now.state === 'pending' && next() < 0.2) await operate(store, 'ignore', of)
    if (now.state === 'pending' && next() < 0.3) await claimOne(store, of, { leaseMs: 2_000 }).catch(() => {})
    if (next() < 0.2) await record(store, delivery(event(of.eventId), { source, body: bytes('again') }))
    if (next() < 0.2) {
      await record(store, delivery(event(of.eventId, { contentHash: sha256('else') }), { source }))
    }
  }
  // Those leases are lost now; the next ones are alive while the sample is looked at.
  await harness.advance(2_001)
  for (const { source, events } of deliveries) {
    const of = key(events[0]!.eventId, source)
    if (next() < 0.1) await store.claim({ worker: 'w', limit: 1, leaseMs: 100 * LEASE_MS, event: of })
  }
  await flush(store)
}

/** What a filter means, without any cleverness. */
export function matches(filter: EventFilter, found: EventRecord): boolean {
  return (
    (filter.source === undefined || found.source === filter.source) &&
    (filter.eventId === undefined || found.eventId === filter.eventId) &&
    (filter.type === undefined || glob(filter.type, found.eventType)) &&
    (filter.state === undefined || found.state === filter.state) &&
    (filter.dead === undefined ||
      (found.state === 'failed' && (found.nextAttemptAt === null) === filter.dead)) &&
    (filter.reason === undefined || found.reason === filter.reason) &&
    (filter.reference === undefined || found.reference === filter.reference) &&
    (filter.from === undefined || found.receivedAt >= filter.from) &&
    (filter.to === undefined || found.receivedAt < filter.to) &&
    (filter.hasDuplicates === undefined || found.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || found.conflicts > 0 === filter.hasConflict) &&
    (filter.flagged === undefined || ((found.sameAs ?? found.contests) !== null) === filter.flagged)
  )
}

function glob(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
