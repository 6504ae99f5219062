import type { ListRule } from '../../verification/define-provider.js'
import { afterLast, filled, paged } from '../../verification/list/paged.js'

// Rules as in its library (resend 6.38.0).
export const resendList = {
  docs: 'https://resend.com/docs/api-reference/webhooks/list-events',
  confidence: 'verified',
  of: 'deliveries',
  // The retention of the plan.
  reachMs: null,
  lacks: 'events that are older than the data retention of the plan',
  byTime: false,
  apiKey: 'an API key (re_...) with full access',
  keyForm: { pattern: /^re_/, form: 'an API key (re_...), not the signing secret' },
  baseUrl: 'https://api.resend.com',
  options: {
    webhook: {
      what: 'Id of the webhook, from its page in the dashboard',
      required: true,
      example: '4dd369bc-aa82-4ff3-97de-514ae3000ee0',
    },
  },
  pages: paged({
    path: '/webhooks/{webhook}/events',
    query: () => ({ limit: 100 }),
    items: 'data[]',
    entry(event) {
      const id = event.text('id') ?? ''
      return {
        occurredAt: event.time('created_at', 'iso'),
        headers: { 'svix-id': id },
        body: JSON.stringify({ type: event.text('type') }),
        isPartial: true,
        handle: id,
      }
    },
    next: afterLast('after', 'id', 'has_more'),
    sorted: 'newest first',
  }),
  async complete(api, { handle, occurredAt, headers }) {
    const path = filled('/webhooks/{webhook}/events', api.options)
    const body = (await api.find(`${path}/${encodeURIComponent(handle!)}`))?.json.part('payload')?.bytes
    return body === undefined ? null : { occurredAt, headers: headers!, body }
  },
} as const satisfies ListRule
