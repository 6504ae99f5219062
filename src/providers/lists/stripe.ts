import { days, type ListRule } from '../../verification/define-provider.js'

const PAGE = 100
/** More endpoints than Stripe allows for an account. */
const MAX_ENDPOINTS = 100

export const stripeList = {
  docs: 'https://docs.stripe.com/api/events/list',
  confidence: 'verified',
  of: 'events',
  reachMs: days(30),
  lacks: 'events of connected accounts, and thin events (v2)',
  byTime: true,
  apiKey: 'a restricted key (rk_...) with read access to Events and Webhook Endpoints',
  keyForm: {
    pattern: /^[sr]k_/,
    form: 'a restricted or secret API key (rk_..., sk_...), not the signing secret',
  },
  baseUrl: 'https://api.stripe.com',
  options: {
    endpoint: {
      what: 'Id of the webhook endpoint (we_...), if the account has several',
      example: 'we_1NAbCdEfGhIjKlMn',
    },
  },
  // The body of a listed event is rendered in the API version of the event, and a delivery in that of the endpoint.
  async *pages(api, { since, until }) {
    // `created` counts whole seconds.
    const created = { 'created[gte]': Math.floor(since / 1_000), 'created[lt]': Math.ceil(until / 1_000) }
    for (let after: string | undefined; ; ) {
      const query = { limit: PAGE, ...created, starting_after: after }
      const { json } = await api.get('/v1/events', { query })
      const page = json.each('data[]')
      yield page.map((event) => ({ occurredAt: event.time('created', 's'), body: event.bytes }))
      after = page.at(-1)?.text('id')
      if (!json.isTrue('has_more') || after === undefined) return
    }
  },
  async has(api, id) {
    return (await api.find(`/v1/events/${encodeURIComponent(id)}`)) !== null
  },
  async scope(api) {
    const { endpoint } = api.options
    const { json } =
      typeof endpoint === 'string'
        ? await api.get(`/v1/webhook_endpoints/${encodeURIComponent(endpoint)}`)
        : await api.get('/v1/webhook_endpoints', { query: { limit: MAX_ENDPOINTS } })
    const endpoints = typeof endpoint === 'string' ? [json] : json.each('data[]')
    // With several, nobody can say which of them is ours.
    const [only] = endpoints
    if (only === undefined || endpoints.length > 1) return null
    return {
      types: only.each('enabled_events[]').flatMap((type) => type.text('') ?? []),
      ...(only.time('created', 's') !== undefined && { since: only.time('created', 's')! }),
      disabled: only.text('status') === 'disabled',
    }
  },
} as const satisfies ListRule
