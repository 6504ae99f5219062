import type { ListRule } from '../../verification/define-provider.js'
import { cursor, iso, knows, paged, wrapped } from '../../verification/list/paged.js'

// Rules as in its library (gocardless-nodejs 10.1.2).
export const gocardlessList = {
  docs: 'https://developer.gocardless.com/api-reference/#events-list-events',
  confidence: 'verified',
  of: 'events',
  reachMs: null,
  lacks: 'events of organisations other than that of the access token',
  byTime: true,
  apiKey: 'an access token with read access',
  baseUrl: 'https://api.gocardless.com',
  headers: { 'gocardless-version': '2015-07-06' },
  pages: paged({
    path: '/events',
    query: ({ since, until }) => ({
      limit: 500,
      'created_at[gte]': iso(since),
      'created_at[lt]': iso(until),
    }),
    items: 'events[]',
    entry: (event) => ({
      occurredAt: event.time('created_at', 'iso'),
      body: wrapped('{"events":[', event, ']}'),
    }),
    next: cursor('after', 'meta.cursors.after'),
  }),
  has: knows('/events'),
} as const satisfies ListRule
