/** Deliveries for suites that call a store without an inbox. */
import { createHash, randomBytes } from 'node:crypto'
import type { Store } from 'hookonce'
import type { NewDelivery } from 'hookonce/testing/contracts'

const run = randomBytes(6).toString('hex')
let made = 0

/** A delivery with one event and a body of about 500 bytes. */
export function delivery(eventId = `evt_${run}_${made++}`): NewDelivery {
  const body = Buffer.from(
    JSON.stringify({ id: eventId, type: 'invoice.paid', filler: 'x'.repeat(450 - eventId.length) }),
  )
  return {
    source: 'stripe',
    headers: { 'content-type': 'application/json' },
    body,
    events: [
      {
        id: eventId,
        type: 'invoice.paid',
        reference: `in_${eventId.slice(4)}`,
        contentHash: createHash('sha256').update(body).digest(),
        guardHash: null,
      },
    ],
    contentGuard: 'review',
  }
}

export function deliveries(count: number): NewDelivery[] {
  return Array.from({ length: count }, () => delivery())
}

/** Claims and settles until nothing is due. Returns the ms of each claim. */
export async function drainTimes(
  store: Store,
  claim: number,
  most = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const times: number[] = []
  while (times.length < most) {
    const startedAt = performance.now()
    const claimed = await store.claim({ worker: 'bench', limit: claim, leaseMs: 60_000, sources: ['stripe'] })
    if (claimed.length === 0) break
    times.push(performance.now() - startedAt)
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })))
  }
  return times
}
