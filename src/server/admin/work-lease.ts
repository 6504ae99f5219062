/** A lease as the worker API hands it out: opaque to the worker, and with the name of its event, so that its errors can be redacted. */
import type { ClaimedEvent, EventKey, Lease } from '../../model.js'

export interface NamedLease {
  readonly lease: Lease
  /** Null in a text that was not made here. */
  readonly event: EventKey | null
}

export function leaseText({ lease, source, eventId }: ClaimedEvent): string {
  const name = Buffer.from(JSON.stringify([source, eventId])).toString('base64url')
  return `${lease.seq}.${lease.token}~${name}`
}

/** A malformed text is treated as an expired lease. */
export function readLease(text: string): NamedLease {
  const [held = '', name = ''] = text.split('~', 2)
  const dot = held.indexOf('.')
  const seq = Number(held.slice(0, dot))
  const known = Number.isSafeInteger(seq) && dot > 0
  const lease = known ? { seq, token: held.slice(dot + 1) } : { seq: 0, token: held }
  return { lease, event: eventOf(name) }
}

function eventOf(name: string): EventKey | null {
  try {
    const [source, eventId] = JSON.parse(Buffer.from(name, 'base64url').toString('utf8'))
    return typeof source === 'string' && typeof eventId === 'string' ? { source, eventId } : null
  } catch {
    return null
  }
}
