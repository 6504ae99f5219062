import type { ListRule } from '../../verification/define-provider.js'
import { iso, paged, pageNumber, wrapped } from '../../verification/list/paged.js'

const PAGE = 100

// Rules as in its library (telnyx 7.24.0).
export const telnyxList = {
  docs: 'https://developers.telnyx.com/api-reference/webhooks/list-webhook-deliveries',
  confidence: 'verified',
  // Of all connections and profiles of the account.
  of: 'events',
  reachMs: null,
  lacks: 'TeXML callbacks, and webhooks that Telnyx has not tried to deliver yet',
  byTime: true,
  apiKey: 'an API key (KEY...)',
  keyForm: { pattern: /^KEY/, form: 'an API key (KEY...), not the public key' },
  baseUrl: 'https://api.telnyx.com',
  pages: paged({
    path: '/v2/webhook_deliveries',
    query: ({ since, until }) => ({
      'page[size]': PAGE,
      'filter[started_at][gte]': iso(since),
      'filter[started_at][lte]': iso(until),
    }),
    items: 'data[]',
    // `webhook` is the `data` of the body that was delivered; the time is that of the first attempt.
    entry(delivery) {
      const event = delivery.part('webhook')
      if (event?.text('id') === undefined) return null
      return { occurredAt: delivery.time('started_at', 'iso'), body: wrapped('{"data":', event, '}') }
    },
    next: pageNumber('page[number]', PAGE),
  }),
} as const satisfies ListRule
