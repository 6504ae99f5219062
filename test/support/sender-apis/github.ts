/**
 * https://docs.github.com/en/rest/repos/webhooks: newest delivery first, a cursor in the Link header, no bodies in the list.
 * Ids have more digits than a number of JavaScript.
 */
import type { AskedRequest, FakeAnswer, SenderFake, SenderShape, SentEvent } from './server.js'

export const hook = 'repos/acme/shop/hooks/12345678'
const FIRST_ID = 1_896_459_378_498_732_032n

export interface GithubFakeOptions {
  /** Default: a webhook of a repository. */
  readonly path?: string
  /** GUIDs of deliveries whose body GitHub does not give. */
  readonly withoutBody?: ReadonlySet<string>
  /** Runs when a delivery is asked for again. */
  redeliver?(event: SentEvent): void
}

export function githubApi({
  path: ofHook = hook,
  withoutBody = new Set(),
  redeliver,
}: GithubFakeOptions = {}): SenderShape {
  return {
    // The official client says `token`.
    isAllowed: ({ headers }, key) => [`Bearer ${key}`, `token ${key}`].includes(headers.authorization ?? ''),
    answer(request, fake): FakeAnswer | undefined {
      const { method, path } = request
      const base = `/${ofHook}/deliveries`
      if (method === 'GET' && path === base) return page(request, fake, base)
      const [, id, attempts] = new RegExp(`^${base}/(\\d+)(/attempts)?$`).exec(path) ?? []
      const event = id === undefined ? undefined : fake.events[Number(BigInt(id) - FIRST_ID)]
      if (event === undefined) return undefined
      if (method === 'POST' && attempts) {
        fake.redelivered.push(event.id)
        redeliver?.(event)
        return { status: 202, body: {} }
      }
      if (method !== 'GET' || attempts) return undefined
      const payload = withoutBody.has(event.id)
        ? null
        : JSON.parse(Buffer.from(event.delivery.body).toString())
      const headers = {
        'X-GitHub-Delivery': event.id,
        'X-GitHub-Hook-ID': '12345678',
        'content-type': 'application/json',
      }
      return {
        body: entry(fake, event, { request: { headers, payload }, response: { headers: {}, payload: null } }),
      }
    },
  }
}

function page({ query }: AskedRequest, fake: SenderFake, base: string): FakeAnswer {
  const size = Number(query.get('per_page') ?? 30)
  if (!(size >= 1 && size <= 100)) return { status: 422, body: { message: 'per_page' } }
  const newest = fake.events.toReversed()
  const cursor = query.get('cursor')
  const start = cursor === null ? 0 : newest.findIndex(({ id }) => id === cursor.slice('v1_'.length))
  if (start < 0) return { status: 422, body: { message: 'cursor' } }
  const next = newest[start + size]
  const link = next && `<${fake.url}${base}?per_page=${size}&cursor=v1_${next.id}>; rel="next"`
  const entries = newest.slice(start, start + size).map((event) => entry(fake, event))
  return { headers: link ? { link } : {}, body: `[${entries}]` }
}

function entry({ events }: SenderFake, event: SentEvent, more: object = {}): string {
  const { delivery, occurredAt, id: guid } = event
  const { action = null } = JSON.parse(Buffer.from(delivery.body).toString()) as { action?: string | null }
  const fields = {
    guid,
    delivered_at: new Date(occurredAt).toISOString(),
    redelivery: false,
    duration: 0.27,
    status: 'OK',
    status_code: 200,
    event: delivery.headers['x-github-event'],
    action,
    installation_id: null,
    repository_id: 123,
    ...more,
  }
  return `{"id":${FIRST_ID + BigInt(events.indexOf(event))},${JSON.stringify(fields).slice(1)}`
}
