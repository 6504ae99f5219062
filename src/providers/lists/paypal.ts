import type { ListRule } from '../../verification/define-provider.js'
import { filled, iso, knows, link, paged, texts } from '../../verification/list/paged.js'

export const paypalList = {
  docs: 'https://developer.paypal.com/docs/api/webhooks/v1/',
  // Its documents have no example of a next link.
  confidence: 'likely',
  of: 'events',
  reachMs: null,
  lacks: 'events of other REST apps',
  byTime: true,
  apiKey: 'client ID and secret of the REST app, as id:secret',
  keyForm: { pattern: /^[^:]+:[^:]+$/, form: 'client ID and secret of the REST app, as id:secret' },
  baseUrl: 'https://api-m.paypal.com',
  async authorize(key, api) {
    const { json } = await api.post('/v1/oauth2/token', {
      headers: { authorization: `Basic ${Buffer.from(key).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    return { authorization: `Bearer ${json.text('access_token')}` }
  },
  pages: paged({
    path: '/v1/notifications/webhooks-events',
    // Both ends belong to the range. unchecked: the greatest page.
    query: ({ since, until }) => ({ page_size: 100, start_time: iso(since), end_time: iso(until) }),
    items: 'events[]',
    entry: (event) => ({ occurredAt: event.time('create_time', 'iso'), body: event.bytes }),
    next: link(({ json }) =>
      json
        .each('links[]')
        .find((one) => one.text('rel') === 'next')
        ?.text('href'),
    ),
  }),
  has: knows('/v1/notifications/webhooks-events'),
  async scope(api) {
    const { json } = await api.get(filled('/v1/notifications/webhooks/{webhookId}', api.options))
    return { types: texts(json, 'event_types[].name') }
  },
} as const satisfies ListRule
