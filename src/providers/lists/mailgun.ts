import { days, type ListRule } from '../../verification/define-provider.js'
import { link, paged, wrapped } from '../../verification/list/paged.js'

// "These alerts have the same data as the event API": https://www.mailgun.com/blog/same-api-new-tricks-get-event-notifications-just-in-time-with-webhooks
export const mailgunList = {
  docs: 'https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events',
  confidence: 'verified',
  of: 'events',
  // At least. The plan decides about more.
  reachMs: days(3),
  lacks: 'events of other domains, and those that Mailgun has not stored yet (up to half an hour)',
  byTime: true,
  apiKey: 'a private API key of the account or of the domain',
  baseUrl: 'https://api.mailgun.net',
  options: {
    domain: { what: 'the sending domain', required: true, example: 'mg.example.com' },
  },
  authorize: (key) => ({ authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` }),
  pages: paged({
    path: '/v3/{domain}/events',
    query: ({ since, until }) => ({
      limit: 300,
      ascending: 'yes',
      begin: Math.floor(since / 1_000),
      end: Math.ceil(until / 1_000),
    }),
    items: 'items[]',
    entry: (event) => ({
      occurredAt: event.time('timestamp', 's'),
      body: wrapped('{"event-data":', event, '}'),
    }),
    // There is always a next page; it is empty after the last one.
    next: link(({ json }) => json.text('paging.next')),
  }),
} as const satisfies ListRule
