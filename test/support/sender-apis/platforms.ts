/** Written from the documents of the senders, not from the rules in src/providers/lists. */
import {
  after,
  afterOpaque,
  basicAuth,
  between,
  bodyOf,
  bodyText,
  iso,
  listShape,
  numbered,
  one,
  opaque,
  opened,
  refused,
} from './list-shape.js'
import type { SenderShape, SentEvent } from './server.js'

/** https://workos.com/docs/reference/events/list: `after` excludes `range_start`; the default order is descending. */
export function workosApi(): SenderShape {
  return listShape({
    path: '/events',
    parameters: [
      'before',
      'after',
      'limit',
      'order',
      'events',
      'range_start',
      'range_end',
      'organization_id',
    ],
    size: { name: 'limit', max: 100, usual: 10 },
    order: 'oldest first',
    has({ after, order, events, range_start: from, range_end: to }) {
      const types = String(events).split(',')
      if (order !== 'asc' || typeof events !== 'string' || (after !== undefined && from !== undefined))
        return undefined
      const isBetween = between(from, to, { withTo: true })
      return isBetween && ((sent) => isBetween(sent) && types.includes(sent.type))
    },
    start: after('after'),
    answer: ({ events, isLast }) => ({
      body: {
        object: 'list',
        data: events.map((sent) => ({ object: 'event', ...bodyOf(sent), created_at: iso(sent.occurredAt) })),
        list_metadata: { before: null, after: isLast ? null : events.at(-1)!.id },
      },
    }),
  })
}

/** https://documentation.mailgun.com/docs/mailgun/user-manual/events/event-polling: pages are URLs; the last one is empty. */
export function mailgunApi(): SenderShape {
  const path = '/v3/mg.example.com/events'
  const list = listShape({
    path,
    parameters: ['begin', 'end', 'ascending', 'limit', 'event', 'page'],
    size: { name: 'limit', max: 300, usual: 100 },
    order: 'oldest first',
    has({ begin, end, ascending }) {
      if (ascending !== 'yes' || !(Number(begin) < Number(end))) return undefined
      return ({ occurredAt }) => occurredAt >= Number(begin) * 1_000 && occurredAt <= Number(end) * 1_000
    },
    start: ({ page }) => Number(page ?? 0),
    answer: ({ events, end, asked }) => ({
      body: {
        items: events.map((sent) => ({ ...bodyOf(sent)['event-data'], timestamp: sent.occurredAt / 1_000 })),
        paging: { next: `https://api.mailgun.net${path}/${opaque({ ...asked, page: end })}` },
      },
    }),
  })
  return {
    isAllowed: basicAuth((key) => `api:${key}`),
    answer(request, fake) {
      if (!request.path.startsWith(`${path}/`)) return list.answer(request, fake)
      const asked = opened(request.path.slice(path.length + 1)) as Record<string, string> | undefined
      if (asked === undefined) return refused('the page')
      return list.answer({ ...request, path, query: new URLSearchParams(asked) }, fake)
    },
  }
}

/** https://docs.gitlab.com/api/project_webhooks/: newest first, the days before today, pages by number, addresses redacted. */
export function gitlabApi(): SenderShape {
  return listShape({
    path: '/api/v4/projects/mike%2Fdiaspora/hooks/42/events',
    parameters: ['page', 'per_page', 'status'],
    size: { name: 'per_page', max: 100, usual: 20 },
    order: 'newest first',
    has: () => () => true,
    isNumbered: true,
    start: numbered('page', ({ per_page: size }) => Number(size ?? 20)),
    answer: ({ events }) => ({
      body: events.map((sent, i) => ({
        id: i + 1,
        url: 'https://example.com/gitlab',
        trigger: 'push_hooks',
        request_headers: {
          'Content-Type': 'application/json',
          'User-Agent': 'GitLab/18.6.0',
          'Idempotency-Key': sent.id,
          'X-Gitlab-Event': sent.delivery.headers['x-gitlab-event'],
          'X-Gitlab-Token': '[REDACTED]',
        },
        request_data: { ...bodyOf(sent), user_email: '[REDACTED]' },
        response_status: 'internal error',
        created_at: iso(sent.occurredAt),
      })),
    }),
  })
}

/** https://docs.polar.sh/api-reference, "List Webhook Deliveries": an entry for each attempt; the body is a text. */
export function polarApi(): SenderShape {
  return listShape({
    path: '/v1/webhooks/deliveries',
    parameters: ['endpoint_id', 'start_timestamp', 'end_timestamp', 'succeeded', 'query', 'page', 'limit'],
    size: { name: 'limit', max: 100, usual: 10 },
    order: 'newest first',
    has: ({ endpoint_id: endpoint, start_timestamp: from, end_timestamp: to }) =>
      endpoint === 'we_1' ? between(from, to) : undefined,
    isNumbered: true,
    start: numbered('page', ({ limit }) => Number(limit ?? 10)),
    answer: ({ events, end, isLast }) => ({
      body: {
        items: events.map((sent, i) => ({
          id: `attempt_${end}_${i}`,
          created_at: iso(sent.occurredAt),
          succeeded: false,
          http_code: null,
          webhook_event: { id: sent.id, type: sent.type, payload: bodyText(sent), is_archived: false },
        })),
        pagination: { total_count: 250, max_page: isLast ? 1 : 9 },
      },
    }),
  })
}

/** https://resend.com/docs/api-reference/webhooks/list-events and get-event: no bodies in the list, newest first. */
export function resendApi(): SenderShape {
  const path = '/webhooks/4dd369bc/events'
  const entry = (sent: SentEvent) => ({
    id: sent.id,
    type: sent.type,
    created_at: iso(sent.occurredAt),
    status: 'failed',
  })
  return listShape({
    path,
    parameters: ['limit', 'after'],
    size: { name: 'limit', max: 100, usual: 20 },
    order: 'newest first',
    has: () => () => true,
    start: after('after'),
    answer: ({ events, isLast }) => ({
      body: { object: 'list', has_more: !isLast, data: events.map(entry) },
    }),
    others: (request, fake) =>
      one(`${path}/`, request, fake, (sent) => ({
        object: 'webhook_event',
        ...entry(sent),
        payload: bodyOf(sent),
      })),
  })
}

/** https://api.svix.com/docs, "List attempted messages": newest first; `after` and `before` exclude their instant. */
export function svixApi(): SenderShape {
  const message = (sent: SentEvent) => ({
    id: sent.id,
    eventType: sent.type,
    eventId: null,
    timestamp: iso(sent.occurredAt),
    payload: bodyOf(sent),
    status: 2,
    statusText: 'fail',
  })
  return listShape({
    path: '/api/v1/app/app_1/endpoint/ep_1/msg',
    parameters: [
      'limit',
      'iterator',
      'before',
      'after',
      'with_content',
      'status',
      'channel',
      'expanded_statuses',
    ],
    size: { name: 'limit', max: 250, usual: 50 },
    order: 'newest first',
    has: ({ after, before }) => between(after, before, { afterFrom: true }),
    start: afterOpaque('iterator'),
    answer: ({ events, isLast, asked }) => ({
      body: {
        data: events
          .map(message)
          .map((one) => (asked.with_content === 'false' ? { ...one, payload: {} } : one)),
        iterator: events.length > 0 ? opaque(events.at(-1)!.id) : null,
        done: isLast,
      },
    }),
    others: (request, fake) => one('/api/v1/app/app_1/msg/', request, fake, message),
  })
}

/** https://developers.telnyx.com/api-reference/webhooks/list-webhook-deliveries */
export function telnyxApi(): SenderShape {
  return listShape({
    path: '/v2/webhook_deliveries',
    parameters: ['page[number]', 'page[size]', 'filter[started_at][gte]', 'filter[started_at][lte]'],
    size: { name: 'page[size]', max: 250, usual: 20 },
    order: 'newest first',
    has: (asked) =>
      between(asked['filter[started_at][gte]'], asked['filter[started_at][lte]'], { withTo: true }),
    isNumbered: true,
    start: numbered('page[number]', (asked) => Number(asked['page[size]'] ?? 20)),
    answer: ({ events, isLast }) => ({
      body: {
        data: events.map((sent) => ({
          id: `delivery-${sent.id}`,
          record_type: 'webhook_delivery',
          status: 'failed',
          webhook: bodyOf(sent).data,
          started_at: iso(sent.occurredAt),
          attempts: [],
        })),
        meta: { page_number: 1, total_pages: isLast ? 1 : 2 },
      },
    }),
  })
}

/** https://developer.okta.com/docs/reference/system-log-query/: bounded requests end without a next link. */
export function oktaApi(): SenderShape {
  return {
    ...listShape({
      path: '/api/v1/logs',
      parameters: ['since', 'until', 'after', 'filter', 'q', 'limit', 'sortOrder'],
      size: { name: 'limit', max: 1_000, usual: 100 },
      order: 'oldest first',
      has: ({ since, until, sortOrder }) => (sortOrder === 'ASCENDING' ? between(since, until) : undefined),
      start: afterOpaque('after'),
      answer({ events, isLast, asked }) {
        const query = new URLSearchParams({
          ...(asked as Record<string, string>),
          after: opaque(events.at(-1)?.id),
        })
        const next = `, <https://acme.okta.com/api/v1/logs?${query}>; rel="next"`
        return {
          headers: { link: `<https://acme.okta.com/api/v1/logs>; rel="self"${isLast ? '' : next}` },
          body: events.map((sent) => ({ ...bodyOf(sent).data.events[0], published: iso(sent.occurredAt) })),
        }
      },
      others: ({ path }) =>
        path === '/api/v1/eventHooks'
          ? {
              body: [
                {
                  id: 'who1',
                  status: 'ACTIVE',
                  events: { type: 'EVENT_TYPE', items: ['user.session.start'] },
                },
              ],
            }
          : undefined,
    }),
    isAllowed: ({ headers }, key) => headers.authorization === `SSWS ${key}`,
  }
}

/** https://hookdeck.com/docs/api#events: no bodies in the list; a source by its id. */
export function hookdeckApi(): SenderShape {
  const sourceOf = ({ delivery }: SentEvent) => `src_${delivery.headers['x-hookdeck-source-name']}`
  return listShape({
    path: '/2024-03-01/events',
    parameters: ['id', 'status', 'destination_id', 'source_id', 'order_by', 'dir', 'limit', 'next', 'prev'],
    size: { name: 'limit', max: 100, usual: 100 },
    order: 'newest first',
    has: ({ destination_id: destination, order_by: by, dir }) =>
      destination === 'des_1' && by === 'created_at' && dir === 'desc' ? () => true : undefined,
    start: afterOpaque('next'),
    answer: ({ events, isLast }) => ({
      body: {
        pagination: {
          order_by: 'created_at',
          dir: 'desc',
          ...(!isLast && { next: opaque(events.at(-1)!.id) }),
        },
        count: events.length,
        models: events.map((sent) => ({
          id: sent.id,
          source_id: sourceOf(sent),
          destination_id: 'des_1',
          request_id: sent.delivery.headers['x-hookdeck-requestid'],
          status: 'FAILED',
          created_at: iso(sent.occurredAt),
        })),
      },
    }),
    others(request, fake) {
      const source = request.path.match(/^\/2024-03-01\/sources\/(src_.+)$/)?.[1]
      if (source) return { body: { id: source, name: source.slice('src_'.length) } }
      const id = request.path.match(/^\/2024-03-01\/events\/(.+)\/raw_body$/)?.[1]
      const event = fake.events.find((sent) => sent.id === id)
      return event && { body: { body: bodyText(event) } }
    },
  })
}
