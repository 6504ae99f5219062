import type { NewDelivery } from 'hookonce/testing/contracts'

/** A delivery of one event for `store.record`. */
export function delivery(eventId: string): NewDelivery {
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from(JSON.stringify({ id: eventId })),
    events: [{ id: eventId, type: 'order.paid', reference: null, contentHash: null, guardHash: null }],
    contentGuard: 'review',
  }
}
