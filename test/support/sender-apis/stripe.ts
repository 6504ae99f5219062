/** https://docs.stripe.com/api/events/list: newest first, `starting_after`, `has_more`, `created` in seconds. */
import type { FakeAnswer, SenderFake, SenderShape, SentEvent } from './server.js'

export interface StripeFakeOptions {
  readonly endpoints?: readonly {
    readonly enabled_events: readonly string[]
    readonly created?: number
    readonly status?: string
  }[]
}

export function stripeApi({ endpoints = [{ enabled_events: ['*'] }] }: StripeFakeOptions = {}): SenderShape {
  return {
    answer({ method, path, query }, fake): FakeAnswer | undefined {
      if (method !== 'GET') return undefined
      if (path === '/v1/events') return { body: listOf(query, fake) }
      if (path.startsWith('/v1/events/')) {
        const id = decodeURIComponent(path.slice('/v1/events/'.length))
        const event = fake.events.find((one) => one.id === id)
        return event ? { body: bodyOf(event) } : notFound(id)
      }
      if (path !== '/v1/webhook_endpoints') return undefined
      const data = endpoints.map((endpoint, i) => ({
        id: `we_${i + 1}`,
        object: 'webhook_endpoint',
        status: 'enabled',
        ...endpoint,
      }))
      return { body: { object: 'list', url: '/v1/webhook_endpoints', has_more: false, data } }
    },
  }
}

function listOf(query: URLSearchParams, { events }: SenderFake): unknown {
  const limit = Number(query.get('limit') ?? 10)
  if (!(limit >= 1 && limit <= 100)) throw new Error(`limit is ${limit}`)
  const from = Number(query.get('created[gte]') ?? 0)
  const to = Number(query.get('created[lt]') ?? Number.MAX_SAFE_INTEGER)
  const newest = events
    .filter(({ occurredAt }) => seconds(occurredAt) >= from && seconds(occurredAt) < to)
    .toReversed()
    .sort((a, b) => seconds(b.occurredAt) - seconds(a.occurredAt))
  const after = query.get('starting_after')
  const start = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1
  const page = newest.slice(start, start + limit)
  return {
    object: 'list',
    url: '/v1/events',
    has_more: start + limit < newest.length,
    data: page.map(bodyOf),
  }
}

/** A listed event is not byte for byte what was delivered: `pending_webhooks` counts down, and fields are in another order. */
function bodyOf({ delivery, occurredAt }: SentEvent): object {
  const event = JSON.parse(Buffer.from(delivery.body).toString()) as object
  return { ...event, pending_webhooks: 0, created: seconds(occurredAt) }
}

function notFound(id: string): FakeAnswer {
  const error = { type: 'invalid_request_error', code: 'resource_missing', message: `No such event: '${id}'` }
  return { status: 404, body: { error } }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
