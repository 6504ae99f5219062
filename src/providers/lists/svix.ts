import { type ListRule, seconds } from '../../verification/define-provider.js'
import { iso, known, knows, paged } from '../../verification/list/paged.js'

// Rules as in its library (svix 1.99.1).
export const svixList = {
  docs: 'https://api.svix.com/docs',
  confidence: 'verified',
  of: 'deliveries',
  reachMs: null,
  lacks: 'messages whose payload was removed or is older than the retention of the environment',
  byTime: true,
  // A customer of the sender gets a token of the application portal from the sender.
  apiKey: 'a token for the application: of the application portal, or an API key of the environment',
  keyForm: { pattern: /^(?!whsec_)/, form: 'a token of the API, not the signing secret' },
  baseUrl: 'https://api.svix.com',
  options: {
    application: { what: 'Id of the application (app_...)', required: true, example: 'app_1srOrx2ZWZBpBUvZ' },
    endpoint: { what: 'Id of the endpoint (ep_...)', required: true, example: 'ep_1srOrx2ZWZBpBUvZ' },
  },
  pages: paged({
    path: '/api/v1/app/{application}/endpoint/{endpoint}/msg',
    // Its pages do not say whether the ends belong to the range.
    query: ({ since, until }) => ({
      limit: 250,
      with_content: 'true',
      after: iso(since - seconds(1)),
      before: iso(until + seconds(1)),
    }),
    items: 'data[]',
    entry: (message, { headerPrefix }) => ({
      occurredAt: message.time('timestamp', 'iso'),
      headers: { [`${headerPrefix}-id`]: message.text('id') ?? '' },
      body: message.part('payload')?.bytes ?? '',
    }),
    next: ({ json }) =>
      json.isTrue('done')
        ? null
        : { iterator: known(json.text('iterator'), 'neither "done" nor "iterator"') },
  }),
  has: knows('/api/v1/app/{application}/msg'),
} as const satisfies ListRule
