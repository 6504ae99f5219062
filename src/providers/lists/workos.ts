import { days, type ListRule } from '../../verification/define-provider.js'
import { iso, paged } from '../../verification/list/paged.js'

// Rules as in its library (@workos-inc/node 8.13.0) and its OpenAPI description.
export const workosList = {
  docs: 'https://workos.com/docs/reference/events',
  confidence: 'verified',
  of: 'events',
  reachMs: days(30),
  lacks: 'events of other environments',
  byTime: true,
  apiKey: 'an API key of the environment (sk_...)',
  keyForm: { pattern: /^sk_/, form: 'an API key (sk_...), not the secret of the webhook endpoint' },
  baseUrl: 'https://api.workos.com',
  options: {
    events: {
      what: 'The event types to compare: those of the webhook endpoint',
      required: true,
      list: true,
      example: 'user.created',
    },
  },
  pages: paged({
    path: '/events',
    query: ({ since, until }, { events }) => ({
      limit: 100,
      order: 'asc',
      events: [events as string | readonly string[]].flat().join(','),
      range_start: iso(since),
      range_end: iso(until),
    }),
    items: 'data[]',
    entry: (event) => ({ occurredAt: event.time('created_at', 'iso'), body: event.bytes }),
    // A range cannot be combined with a cursor.
    next: ({ json }) => {
      const after = json.text('list_metadata.after')
      return after === undefined ? null : { after, range_start: undefined, range_end: undefined }
    },
    sorted: 'oldest first',
  }),
  scope: async ({ options }) => ({ types: [options.events as string | string[]].flat() }),
} as const satisfies ListRule
