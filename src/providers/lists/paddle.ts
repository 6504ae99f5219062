import { days, type ListRule } from '../../verification/define-provider.js'
import { filled, iso, known, link, paged, scopeOfOnly, texts } from '../../verification/list/paged.js'

// Rules as in its library (@paddle/paddle-node-sdk 3.10.0), except for `from` and `to`, which are new in 2026:
// https://developer.paddle.com/changelog/2026/event-notification-log-filtering
export const paddleList = {
  docs: 'https://developer.paddle.com/api-reference/events/list-events',
  confidence: 'verified',
  of: 'events',
  reachMs: days(90),
  lacks: 'simulated events',
  byTime: true,
  apiKey: 'an API key (pdl_...) with the permissions event.read and notification_setting.read',
  // The secret of a destination begins in the same way. Older keys have no prefix.
  keyForm: {
    pattern: /^(?!pdl_ntfset_)/,
    form: 'an API key (pdl_live_apikey_...), not the secret of the notification destination',
  },
  baseUrl: 'https://api.paddle.com',
  options: {
    destination: {
      what: 'Id of the notification destination (ntfset_...), if the account has several',
      example: 'ntfset_01gkpjp8bkm3tm53kdgkx6sms7',
    },
  },
  pages: paged({
    path: '/events',
    query: ({ since, until }) => ({
      per_page: 200,
      order_by: 'id[ASC]',
      from: iso(since),
      to: iso(until),
    }),
    items: 'data[]',
    entry: (event) => ({ occurredAt: event.time('occurred_at', 'iso'), body: event.bytes }),
    next: link(({ json }) =>
      json.isTrue('meta.pagination.has_more')
        ? known(json.text('meta.pagination.next'), '"has_more" without "next"')
        : null,
    ),
  }),
  async scope(api) {
    const { destination } = api.options
    const { json } =
      typeof destination === 'string'
        ? await api.get(filled('/notification-settings/{destination}', api.options))
        : await api.get('/notification-settings', { query: { per_page: 200 } })
    const all = typeof destination === 'string' ? [json.part('data')!] : json.each('data[]')
    const endpoints = all.filter((one) => one.text('type') === 'url')
    return scopeOfOnly(endpoints, (endpoint) => ({
      types: texts(endpoint, 'subscribed_events[].name'),
      disabled: !endpoint.isTrue('active'),
    }))
  },
} as const satisfies ListRule
