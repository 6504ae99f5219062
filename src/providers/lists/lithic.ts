import { days, type ListRule } from '../../verification/define-provider.js'
import { afterLast, iso, knows, paged, scopeOfOnly, texts } from '../../verification/list/paged.js'

// Rules as in its library (lithic 0.145.0).
export const lithicList = {
  docs: 'https://docs.lithic.com/docs/events-api#list-all-events',
  confidence: 'verified',
  of: 'events',
  reachMs: days(90),
  lacks: 'authorization requests (ASA)',
  byTime: true,
  apiKey: 'an API key of the program',
  baseUrl: 'https://api.lithic.com',
  authorize: (key) => ({ authorization: key }),
  pages: paged({
    path: '/v1/events',
    query: ({ since, until }) => ({
      page_size: 1_000,
      with_content: 'true',
      begin: iso(since),
      end: iso(until),
    }),
    items: 'data[]',
    // `token`: "This is the same as webhook-id in the header".
    entry: (event) => ({
      occurredAt: event.time('created', 'iso'),
      headers: { 'webhook-id': event.text('token') ?? '' },
      body: event.part('payload')?.bytes ?? '',
    }),
    next: afterLast('starting_after', 'token', 'has_more'),
  }),
  has: knows('/v1/events'),
  async scope(api) {
    const { json } = await api.get('/v1/event_subscriptions', { query: { page_size: 100 } })
    return scopeOfOnly(json.each('data[]'), (subscription) => {
      const types = texts(subscription, 'event_types[]')
      return { types: types.length === 0 ? ['*'] : types, disabled: subscription.isTrue('disabled') }
    })
  },
} as const satisfies ListRule
