import { z } from 'zod'
import { HookonceError, invalid } from '../../../errors.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import { type EventFilter, type EventKey, named } from '../../../model.js'
import { defined } from '../../../options.js'
import type { Inspect } from '../../../store/inspect.js'
import type { Payload } from '../../../store.js'
import type { Authenticated } from '../access.js'
import { audit, auditOf, inspectOf } from '../capabilities.js'
import { countEvents, filterQuery, search } from '../filter.js'
import { type Route, route } from '../route.js'
import {
  attemptsShape,
  auditPageShape,
  count,
  eventPageShape,
  eventShape,
  json,
  keyParams,
  noteFields,
  pageQuery,
  payloadAndReplyShape,
} from '../shapes.js'
import type { Streams } from '../streams.js'
import { attemptView, eventView, isOwnReason, seesDetail } from '../views.js'

const q = z.string().min(1).max(255).optional().describe('An id, a reference, or the beginning of a type')

export function eventRoutes(inbox: WholeInbox, streams: Streams): Route[] {
  const { source, id, from, to } = filterQuery
  return [
    route({
      method: 'GET',
      path: '/api/events',
      id: 'listEvents',
      summary: 'Events, newest first; with `q`, the best matches first',
      can: 'read',
      query: {
        ...filterQuery,
        q,
        ...pageQuery,
      },
      answers: {
        200: json(
          'A page. A page with fewer entries than `limit` may still have a next page.',
          eventPageShape,
        ),
      },
      async run({ access, query: { q, limit, cursor = null, ...conditions } }) {
        const detail = seesDetail(access)
        checkReasonFilter(access, conditions)
        const pageOf = listOf(inbox, q, defined(conditions))
        const { events, next, cut = false } = await pageOf({ limit, cursor })
        const waiting = await inbox.events.waiting(events)
        return { events: events.map((event, i) => eventView(event, detail, waiting[i])), next, cut }
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/count',
      id: 'countEvents',
      summary: 'How many events match, counted up to 1,000 or for half a second',
      can: 'read',
      query: { ...filterQuery, q },
      answers: {
        200: json(
          'The number, and whether there are or may be more.',
          z.strictObject({ count, more: z.boolean() }),
        ),
      },
      async run({ access, query: { q, ...conditions } }) {
        checkReasonFilter(access, conditions)
        return countEvents(listOf(inbox, q, defined(conditions)))
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/:source/:id',
      id: 'getEvent',
      summary: 'One event',
      can: 'read',
      params: keyParams,
      answers: { 200: json('The event.', eventShape) },
      async run({ access, params: key }) {
        const event = await existingEvent(inbox, key)
        const [waiting] = await inbox.events.waiting([event])
        return eventView(event, seesDetail(access), waiting)
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/:source/:id/attempts',
      id: 'listAttempts',
      summary: 'The attempts of an event, oldest first',
      can: 'read',
      params: keyParams,
      answers: { 200: json('Its attempts.', attemptsShape) },
      async run({ access, params: key }) {
        await existingEvent(inbox, key)
        const attempts = await inbox.events.attempts(key)
        return { attempts: attempts.map((attempt) => attemptView(attempt, seesDetail(access))) }
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/:source/:id/payload',
      id: 'getPayload',
      summary:
        'The payload as received: a download; or JSON with base64, and with the reply of an inline handler, if the Accept header names JSON',
      can: 'payload',
      params: keyParams,
      query: noteFields,
      answers: {
        200: {
          about: 'The payload. For a delivery with several events, the whole delivery.',
          content: { 'application/json': payloadAndReplyShape, 'application/octet-stream': z.string() },
        },
      },
      async run({ access, request, params: key, query }) {
        const payload = await auditedRead(inbox, key, access!.actor, query.note ?? '', 'payload')
        if ((request.headers.get('accept') ?? '').includes('application/json'))
          return { ...payloadView(key, payload), reply: await replyView(inbox, key) }
        const { body } = payload
        // A download, so that a browser does not render the text of a stranger.
        return new Response(Buffer.from(body), {
          headers: {
            'content-type': 'application/octet-stream',
            'content-disposition': 'attachment; filename="payload.bin"',
            'content-length': String(body.byteLength),
          },
        })
      },
    }),
    route({
      method: 'GET',
      path: '/api/audits',
      id: 'listAudits',
      summary: 'The audit, newest first; of one event with `source` and `id`',
      can: 'detail', // notes are texts of people about events, so viewers do not see them
      query: {
        source,
        id,
        actor: z.string().min(1).optional().describe('Who did it: the name of a token'),
        verb: z.string().min(1).optional().describe('What was done, such as `replay` or `payload`'),
        from,
        to,
        ...pageQuery,
      },
      answers: { 200: json('A page, newest first.', auditPageShape) },
      async run({ query: { limit, cursor = null, id: eventId, ...conditions } }) {
        const trail = await auditOf(inbox)
        return trail.list(defined({ ...conditions, eventId }), { limit, cursor })
      },
    }),
    route({
      method: 'GET',
      path: '/api/stream',
      id: 'streamEvents',
      summary:
        'New events as server-sent events: `recorded`, `gap` when events were missed, `stats` when counts change',
      can: 'read',
      query: {
        source: z.string().min(1).optional().describe('The name of a source'),
        after: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe(
            'A position: the id of an earlier event of the stream. The header Last-Event-ID has priority',
          ),
      },
      answers: { 200: { about: 'The stream.', content: { 'text/event-stream': z.string() } } },
      async run({ request, access, query: { source, after = null } }) {
        const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
        if (request.method === 'HEAD') return new Response(null, { headers })
        await inbox.store() // when the log cannot be read, answer with an error and not with a broken stream
        const body = streams.open({
          source,
          after: lastEventId(request) ?? after,
          detail: seesDetail(access),
          expiresAt: access!.expiresAt,
        })
        return new Response(body, { headers })
      },
    }),
  ]
}

function listOf(inbox: WholeInbox, q: string | undefined, filter: EventFilter) {
  const list = (narrow: EventFilter, page: ListPage) => inbox.events.list(narrow, page)
  return (page: ListPage) => (q === undefined ? list(filter, page) : search(list, q, filter, page))
}

type ListPage = { limit: number; cursor: string | null }

/** A viewer could guess an error text by filtering for it. */
export function checkReasonFilter(
  access: Authenticated | null,
  { reason, reasonLike }: { readonly reason?: string | undefined; readonly reasonLike?: string | undefined },
): void {
  if (seesDetail(access)) return
  if (reasonLike !== undefined || (reason !== undefined && !isOwnReason(reason)))
    throw new HookonceError('FORBIDDEN', { role: access!.role, roles: 'operator or admin' })
}

export async function existingEvent(inbox: WholeInbox, key: EventKey) {
  const event = await inbox.events.get(key)
  if (event === null) throw new HookonceError('EVENT_NOT_FOUND', named(key))
  return event
}

/** Reads the bytes of the event, or of the delivery that conflicts with it. The audit is written first. */
export async function auditedRead<What extends 'payload' | 'conflict'>(
  inbox: WholeInbox,
  key: EventKey,
  actor: string,
  note: string,
  what: What,
): Promise<NonNullable<Awaited<ReturnType<Inspect[What]>>>> {
  await existingEvent(inbox, key)
  await audit(inbox, { actor, verb: 'payload', ...named(key), note })
  const found = await (await inspectOf(inbox))[what](key)
  if (found === null) throw new HookonceError('PAYLOAD_REMOVED', named(key))
  return found as never
}

export function payloadView({ source, id }: EventKey, { headers, body, part, receivedAt }: Payload) {
  const base64 = Buffer.from(body).toString('base64')
  return { source, id, part, receivedAt, headers, body: base64 }
}

async function replyView(inbox: WholeInbox, key: EventKey) {
  const reply = await (await inbox.store()).replies?.get(key)
  return reply ? { ...reply, body: Buffer.from(reply.body).toString('base64') } : null
}

function lastEventId(request: Request): number | null {
  const text = request.headers.get('last-event-id')
  if (text === null || text === '') return null
  if (!/^\d{1,15}$/.test(text))
    throw invalid('Last-Event-ID', 'must be a position of this stream, a whole number')
  return Number(text)
}
