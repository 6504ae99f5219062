import type { ListRule } from '../../verification/define-provider.js'
import { cursor, knows, paged } from '../../verification/list/paged.js'

// Rules as in its library (chargebee 3.33.0).
export const chargebeeList = {
  docs: 'https://apidocs.chargebee.com/docs/api/events',
  confidence: 'verified',
  of: 'events',
  reachMs: null,
  lacks: 'events of other sites',
  byTime: true,
  apiKey: 'a read-only API key of the site',
  // Each site has its own address.
  baseUrl: 'https://chargebee.com',
  options: {
    baseUrl: {
      what: 'the address of the site, such as https://acme.chargebee.com',
      required: true,
      example: 'https://acme.chargebee.com',
    },
  },
  authorize: (key) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }),
  pages: paged({
    path: '/api/v2/events',
    // Whole seconds, and both ends are excluded.
    query: ({ since, until }) => ({
      limit: 100,
      'occurred_at[after]': Math.floor(since / 1_000) - 1,
      'occurred_at[before]': Math.ceil(until / 1_000),
      'sort_by[asc]': 'occurred_at',
    }),
    items: 'list[].event',
    entry: (event) => ({ occurredAt: event.time('occurred_at', 's'), body: event.bytes }),
    next: cursor('offset', 'next_offset'),
  }),
  has: knows('/api/v2/events'),
} as const satisfies ListRule
