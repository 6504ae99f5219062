import { days, type ListRule, seconds } from '../../verification/define-provider.js'
import { cursor, iso, paged, scopeOfOnly, texts } from '../../verification/list/paged.js'

// Rules as in its library (square 46.0.0).
export const squareList = {
  docs: 'https://developer.squareup.com/reference/square/events-api/SearchEvents',
  confidence: 'verified',
  of: 'events',
  reachMs: days(28),
  lacks: 'events from before they were made searchable (PUT /v2/events/enable)',
  byTime: true,
  apiKey: 'the personal access token of the application',
  baseUrl: 'https://connect.squareup.com',
  pages: paged({
    path: '/v2/events',
    // Its pages do not say whether the ends belong to the range.
    search: ({ since, until }) => ({
      limit: 100,
      query: {
        filter: {
          created_at: { start_at: iso(since - seconds(1)), end_at: iso(until + seconds(1)) },
        },
        sort: { field: 'DEFAULT', order: 'ASC' },
      },
    }),
    items: 'events[]',
    omitsEmptyList: true,
    entry: (event) => ({ occurredAt: event.time('created_at', 'iso'), body: event.bytes }),
    next: cursor('cursor', 'cursor'),
  }),
  async scope(api) {
    const { json } = await api.get('/v2/webhooks/subscriptions', { query: { include_disabled: 'true' } })
    return scopeOfOnly(json.each('subscriptions[]'), (subscription) => ({
      types: texts(subscription, 'event_types[]'),
      disabled: !subscription.isTrue('enabled'),
    }))
  },
} as const satisfies ListRule
