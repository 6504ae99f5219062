import type { Listed, ListRule, SenderApi } from '../../verification/define-provider.js'
import { cursor, filled, paged } from '../../verification/list/paged.js'

const VERSION = '/2024-03-01'

/** The list names its source by id, and a delivery by name. */
const events = paged({
  path: `${VERSION}/events`,
  query: (_, { destination }) => ({
    destination_id: destination as string,
    order_by: 'created_at',
    dir: 'desc',
    limit: 100,
  }),
  items: 'models[]',
  entry: (event, { headerPrefix }) => ({
    occurredAt: event.time('created_at', 'iso'),
    headers: {
      [`${headerPrefix}-eventid`]: event.text('id') ?? '',
      [`${headerPrefix}-requestid`]: event.text('request_id') ?? '',
      [`${headerPrefix}-source-name`]: event.text('source_id') ?? '',
    },
    body: '',
    isPartial: true,
    handle: event.text('id') ?? '',
  }),
  next: cursor('next', 'pagination.next'),
  sorted: 'newest first',
})

// Rules as in its library (@hookdeck/sdk 0.4.0).
export const hookdeckList = {
  docs: 'https://hookdeck.com/docs/api#events',
  confidence: 'verified',
  of: 'deliveries',
  reachMs: null,
  lacks: 'events that are older than the retention of the plan',
  byTime: false,
  apiKey: 'an API key of the project',
  baseUrl: 'https://api.hookdeck.com',
  options: {
    destination: {
      what: 'Id of the destination (des_...)',
      required: true,
      example: 'des_1a2b3c4d5e6f',
    },
  },
  async *pages(api, range) {
    const header = `${api.options.headerPrefix}-source-name`
    const names = new Map<string, string>()
    for await (const page of events(api, range)) {
      const named: Listed[] = []
      for (const event of page) {
        const source = event.headers![header]!
        if (!names.has(source)) names.set(source, await nameOf(api, source))
        named.push({ ...event, headers: { ...event.headers, [header]: names.get(source)! } })
      }
      yield named
    }
  },
  async complete(api, { handle, occurredAt, headers }) {
    const answer = await api.find(`${VERSION}/events/${encodeURIComponent(handle!)}/raw_body`)
    const body = answer?.json.text('body')
    return body === undefined ? null : { occurredAt, headers: headers!, body }
  },
} as const satisfies ListRule

/** A source that was removed has no name. */
async function nameOf(api: SenderApi, source: string): Promise<string> {
  const answer = await api.find(filled(`${VERSION}/sources/{source}`, { source }))
  return answer?.json.text('name') ?? source
}
