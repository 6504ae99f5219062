import type { ListRule } from '../../verification/define-provider.js'
import { iso, paged, pageNumber } from '../../verification/list/paged.js'

const PAGE = 100

// Rules as in its library (@polar-sh/sdk 0.49.0) and its server (server/polar/webhook/tasks.py).
export const polarList = {
  docs: 'https://docs.polar.sh/api-reference',
  confidence: 'verified',
  of: 'deliveries',
  reachMs: null,
  lacks: 'events that were never attempted, such as those of a disabled endpoint',
  byTime: true,
  apiKey: 'an organization access token (polar_oat_...) with the scope webhooks:read',
  keyForm: { pattern: /^polar_(?!whs)/, form: 'an access token (polar_oat_...), not the webhook secret' },
  baseUrl: 'https://api.polar.sh',
  options: {
    endpoint: {
      what: 'Id of the webhook endpoint, from its page in the dashboard',
      required: true,
      example: '9b5b6a4e-3a5e-4d0e-9a38-0d6ae5b0a6c1',
    },
  },
  pages: paged({
    path: '/v1/webhooks/deliveries',
    query: ({ since, until }, { endpoint }) => ({
      endpoint_id: endpoint as string,
      limit: PAGE,
      start_timestamp: iso(since),
      end_timestamp: iso(until),
    }),
    items: 'items[]',
    // One entry for each attempt, with the time of the attempt. The body of an archived event is null.
    entry(attempt) {
      const body = attempt.text('webhook_event.payload')
      const type = attempt.text('webhook_event.type')
      return {
        occurredAt: attempt.time('created_at', 'iso'),
        headers: { 'webhook-id': attempt.text('webhook_event.id') ?? '' },
        body: body ?? JSON.stringify({ type }),
        ...(body === undefined && { isPartial: true }),
      }
    },
    next: pageNumber('page', PAGE),
  }),
} as const satisfies ListRule
