/** `hookonce dev --forward`: every event goes on to one address, signed as Standard Webhooks. */
import { addDestinations } from '../../forward/destinations.js'
import type { Inbox } from '../../inbox.js'

export interface ForwardTarget {
  readonly url: string
  /** What the app behind it needs to verify. */
  readonly secret: string
}

/** The person at this machine named the address, so private ones are fine; in a configuration they must be allowed. */
const privateRanges = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7']

export function forwardTo(inbox: Inbox, url: string, devSecret: string): ForwardTarget {
  const secret = `whsec_${Buffer.from(devSecret).toString('base64')}`
  addDestinations(inbox, { forward: { url, secret, allowPrivate: privateRanges } })
  return { url, secret }
}
