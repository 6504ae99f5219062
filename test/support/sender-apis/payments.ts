/** Written from the documents of the senders, not from the rules in src/providers/lists. */
import { after, afterOpaque, basicAuth, between, bodyOf, iso, listShape, one, opaque } from './list-shape.js'
import type { FakeAnswer, SenderShape, SentEvent } from './server.js'

/** https://developer.gocardless.com/api-reference/#events-list-events: newest first, cursors are ids. */
export function gocardlessApi(): SenderShape {
  const eventOf = (sent: SentEvent) => ({ ...bodyOf(sent).events[0], created_at: iso(sent.occurredAt) })
  return versioned(
    'gocardless-version',
    listShape({
      path: '/events',
      parameters: [
        'after',
        'before',
        'limit',
        'created_at[gt]',
        'created_at[gte]',
        'created_at[lt]',
        'created_at[lte]',
      ],
      size: { name: 'limit', max: 500, usual: 50 },
      order: 'newest first',
      has: (asked) => between(asked['created_at[gte]'], asked['created_at[lt]']),
      start: after('after'),
      answer: ({ events, isLast }) => ({
        body: {
          events: events.map(eventOf),
          meta: { cursors: { before: null, after: isLast ? null : events.at(-1)!.id }, limit: events.length },
        },
      }),
      others: (request, fake) => one('/events/', request, fake, (sent) => ({ events: eventOf(sent) })),
    }),
  )
}

/** https://developer.squareup.com/reference/square/events-api/search-events: the whole query again with each cursor. */
export function squareApi(): SenderShape {
  return listShape({
    method: 'POST',
    path: '/v2/events',
    parameters: ['cursor', 'limit', 'query'],
    size: { name: 'limit', max: 100, usual: 100 },
    order: 'oldest first',
    has(asked) {
      const { filter, sort } = asked.query as {
        filter: { created_at: { start_at: string; end_at: string } }
        sort: { order: string }
      }
      if (sort.order !== 'ASC') return undefined
      return between(filter.created_at.start_at, filter.created_at.end_at, { afterFrom: true })
    },
    start: afterOpaque('cursor'),
    answer: ({ events, isLast }) => ({
      body: {
        // Absent for no events.
        ...(events.length > 0 && {
          events: events.map((sent) => ({ ...bodyOf(sent), created_at: iso(sent.occurredAt) })),
        }),
        metadata: events.map(({ id }) => ({ event_id: id, api_version: '2026-09-16' })),
        ...(!isLast && { cursor: opaque(events.at(-1)!.id) }),
      },
    }),
    others: ({ path }) =>
      path === '/v2/webhooks/subscriptions'
        ? {
            body: {
              subscriptions: [
                { id: 'wbhk_1', enabled: true, event_types: ['payment.created', 'refund.updated'] },
              ],
            },
          }
        : undefined,
  })
}

/** https://apidocs.chargebee.com/docs/api/events#list_events: whole seconds, `next_offset` is absent on the last page. */
export function chargebeeApi(): SenderShape {
  const secondOf = ({ occurredAt }: SentEvent) => Math.floor(occurredAt / 1_000)
  const event = (sent: SentEvent) => ({
    event: { ...bodyOf(sent), occurred_at: secondOf(sent), webhook_status: 'succeeded' },
  })
  return listShape({
    isAllowed: basicAuth((key) => `${key}:`),
    path: '/api/v2/events',
    parameters: ['limit', 'offset', 'occurred_at[after]', 'occurred_at[before]', 'sort_by[asc]'],
    size: { name: 'limit', max: 100, usual: 10 },
    order: 'oldest first',
    has: (asked) => (sent) =>
      secondOf(sent) > Number(asked['occurred_at[after]']) &&
      secondOf(sent) < Number(asked['occurred_at[before]']),
    start: afterOpaque('offset'),
    answer: ({ events, isLast }) => ({
      body: { list: events.map(event), ...(!isLast && { next_offset: opaque(events.at(-1)!.id) }) },
    }),
    others: (request, fake) => one('/api/v2/events/', request, fake, event),
  })
}

/**
 * https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events_list: both ends belong to the range; the links have the
 * older host of the API.
 */
export function paypalApi(): SenderShape {
  const path = '/v1/notifications/webhooks-events'
  const token = (key: string) => `A21AA.${Buffer.from(key).toString('base64url')}`
  const event = (sent: SentEvent) => ({
    ...bodyOf(sent),
    create_time: iso(sent.occurredAt),
    links: [{ href: `https://api.paypal.com${path}/${sent.id}`, rel: 'self', method: 'GET' }],
  })
  const list = listShape({
    path,
    parameters: [
      'page_size',
      'start_time',
      'end_time',
      'event_type',
      'transaction_id',
      'move_to',
      'index_id',
    ],
    size: { name: 'page_size', max: 100, usual: 10 },
    order: 'newest first',
    has: ({ start_time: from, end_time: to }) => between(from, to, { withTo: true }),
    start: after('index_id'),
    answer({ events, isLast, asked }) {
      const query = new URLSearchParams({
        ...(asked as Record<string, string>),
        move_to: 'next',
        index_id: events.at(-1)?.id ?? '',
      })
      const links = [
        { href: `https://api.paypal.com${path}`, rel: 'self', method: 'GET' },
        ...(isLast ? [] : [{ href: `https://api.paypal.com${path}?${query}`, rel: 'next', method: 'GET' }]),
      ]
      return { body: { events: events.map(event), count: events.length, links } }
    },
    others(request, fake) {
      if (request.path !== '/v1/notifications/webhooks/1JE4291016473214C')
        return one(`${path}/`, request, fake, event)
      const types = [{ name: 'PAYMENT.CAPTURE.COMPLETED' }, { name: 'CUSTOMER.DISPUTE.CREATED' }]
      return { body: { id: '1JE4291016473214C', url: 'https://example.com/paypal', event_types: types } }
    },
  })
  return {
    isAllowed(request, key) {
      if (request.path !== '/v1/oauth2/token') return request.headers.authorization === `Bearer ${token(key)}`
      return basicAuth((one) => one)(request, key)
    },
    answer(request, fake): FakeAnswer | undefined {
      if (request.path !== '/v1/oauth2/token') return list.answer(request, fake)
      if (request.body !== 'grant_type=client_credentials')
        return { status: 400, body: { error: 'unsupported_grant_type' } }
      return { body: { access_token: token(fake.key), token_type: 'Bearer', expires_in: 32_400 } }
    },
  }
}

/** https://developer.paddle.com/api-reference/events/list-events: `next` is a URL even on the last page. */
export function paddleApi(): SenderShape {
  const destination = {
    id: 'ntfset_01gkpjp8bkm3tm53kdgkx6sms7',
    type: 'url',
    active: true,
    subscribed_events: [{ name: 'transaction.completed' }, { name: 'subscription.updated' }],
  }
  const email = { ...destination, id: 'ntfset_01h', type: 'email' }
  return listShape({
    // Its own client writes `bearer`.
    isAllowed: ({ headers }, key) => headers.authorization?.replace(/^bearer/, 'Bearer') === `Bearer ${key}`,
    path: '/events',
    parameters: ['after', 'order_by', 'per_page', 'event_type', 'filter', 'from', 'to'],
    size: { name: 'per_page', max: 200, usual: 50 },
    order: 'oldest first',
    has: (asked) =>
      asked.order_by === 'id[ASC]' ? between(asked.from, asked.to, { withTo: true }) : undefined,
    start: after('after'),
    answer({ events, isLast, asked, url }) {
      const query = new URLSearchParams({
        ...(asked as Record<string, string>),
        after: events.at(-1)?.id ?? '',
      })
      const pagination = {
        per_page: 200,
        next: `${url}/events?${query}`,
        has_more: !isLast,
        estimated_total: 9,
      }
      // A listed event has no notification_id of a destination.
      const data = events.map((sent) => ({
        ...bodyOf(sent),
        notification_id: null,
        occurred_at: iso(sent.occurredAt),
      }))
      return { body: { data, meta: { request_id: 'b15ec92e', pagination } } }
    },
    others: ({ path }) => {
      if (path === '/notification-settings') return { body: { data: [email, destination] } }
      if (path === `/notification-settings/${destination.id}`) return { body: { data: destination } }
      return undefined
    },
  })
}

/** https://docs.lithic.com/docs/events-api#list-all-events: newest first; the key without `Bearer`. */
export function lithicApi(): SenderShape {
  const eventOf = (sent: SentEvent) => ({
    token: sent.id,
    event_type: bodyOf(sent).event_type,
    created: iso(sent.occurredAt),
    payload: bodyOf(sent),
  })
  return listShape({
    isAllowed: ({ headers }, key) => headers.authorization === key,
    path: '/v1/events',
    parameters: [
      'page_size',
      'starting_after',
      'ending_before',
      'begin',
      'end',
      'event_types',
      'with_content',
    ],
    size: { name: 'page_size', max: 1_000, usual: 50 },
    order: 'newest first',
    has: ({ begin, end }) => between(begin, end),
    start: after('starting_after'),
    answer: ({ events, isLast, asked }) => ({
      body: {
        data: events.map(eventOf).map(({ payload, ...event }) => ({
          ...event,
          payload: asked.with_content === 'true' ? payload : {},
        })),
        has_more: !isLast,
      },
    }),
    others(request, fake) {
      if (request.path !== '/v1/event_subscriptions') return one('/v1/events/', request, fake, eventOf)
      return {
        body: {
          data: [{ token: 'ep_1', disabled: false, event_types: null, url: 'https://example.com' }],
          has_more: false,
        },
      }
    },
  })
}

/** A sender that refuses a request without its version. */
function versioned(header: string, shape: SenderShape): SenderShape {
  return {
    ...shape,
    answer: (request, fake) =>
      request.headers[header] === undefined
        ? { status: 400, body: { error: { message: 'no version' } } }
        : shape.answer(request, fake),
  }
}
