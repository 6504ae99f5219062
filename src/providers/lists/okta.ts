import { days, type ListRule } from '../../verification/define-provider.js'
import { iso, link, paged, scopeOfOnly, texts, wrapped } from '../../verification/list/paged.js'

// Rules as in its library (@okta/okta-sdk-nodejs 8.1.0). "Any events delivered by Event Hooks are, by definition, also System
// Log Events": https://developer.okta.com/docs/concepts/event-hooks/
export const oktaList = {
  docs: 'https://developer.okta.com/docs/reference/system-log-query/',
  confidence: 'verified',
  of: 'events',
  reachMs: days(90),
  lacks: 'events that are not in the System Log yet',
  byTime: true,
  apiKey: 'an API token, or an access token with the scopes okta.logs.read and okta.eventHooks.read',
  // Each organization has its own address.
  baseUrl: 'https://okta.com',
  options: {
    baseUrl: {
      what: 'the address of the organization, such as https://acme.okta.com',
      required: true,
      example: 'https://acme.okta.com',
    },
  },
  // An access token is a JWT and has dots.
  authorize: (key) => ({ authorization: `${key.includes('.') ? 'Bearer' : 'SSWS'} ${key}` }),
  pages: paged({
    path: '/api/v1/logs',
    query: ({ since, until }) => ({
      limit: 1_000,
      sortOrder: 'ASCENDING',
      since: iso(since),
      until: iso(until),
    }),
    items: '[]',
    entry: (event) => ({
      occurredAt: event.time('published', 'iso'),
      body: wrapped('{"data":{"events":[', event, ']}}'),
    }),
    next: link(({ next }) => next),
  }),
  async scope(api) {
    const { json } = await api.get('/api/v1/eventHooks')
    return scopeOfOnly(json.each('[]'), (hook) => ({
      types: texts(hook, 'events.items[]'),
      disabled: hook.text('status') !== 'ACTIVE',
    }))
  },
} as const satisfies ListRule
