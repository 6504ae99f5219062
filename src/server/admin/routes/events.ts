/** Reading the log: the list, one event, its attempts, its payload. */

import { z } from 'zod'
import { HookonceError } from '../../../errors.js'
import type { Inbox } from '../../../inbox.js'
import type { EventKey } from '../../../model.js'
import { need } from '../../../store.js'
import { filterOf, filterQuery, search } from '../filter.js'
import { noteOf, type Route, route } from '../route.js'
import {
  attemptsShape,
  eventPageShape,
  eventShape,
  json,
  keyParams,
  noteFields,
  pageQuery,
  payloadShape,
} from '../shapes.js'
import { attemptView, eventView, instant, isOwnReason, seesDetail } from '../views.js'

export function eventRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/events',
      id: 'listEvents',
      summary: 'Events, newest first; with `q`, the best matches first',
      can: 'read',
      query: {
        ...filterQuery,
        q: z.string().min(1).max(255).optional().describe('An id, a reference, or the beginning of a type'),
        ...pageQuery,
      },
      answers: { 200: json('A page. It may be short and still have a next one.', eventPageShape) },
      problems: [400],
      async run({ access, query: { q, limit, cursor = null, ...conditions } }) {
        const detail = seesDetail(access)
        // A viewer could otherwise guess an error text by filtering for it.
        if (conditions.reason !== undefined && !detail && !isOwnReason(conditions.reason)) {
          throw new HookonceError('FORBIDDEN', { role: access!.role, roles: 'operator or admin' })
        }
        const page = { limit, cursor }
        const {
          events,
          next,
          cut = false,
        } = q === undefined
          ? await inbox.events.list(filterOf(conditions), page)
          : await search((filter, of) => inbox.events.list(filter, of), q, filterOf(conditions), page)
        return { events: events.map((event) => eventView(event, detail)), next, cut }
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
      problems: [400, 404],
      async run({ access, params }) {
        const key = eventKey(params)
        return eventView(await existingEvent(inbox, key), seesDetail(access))
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
      problems: [400, 404],
      async run({ access, params }) {
        const key = eventKey(params)
        await existingEvent(inbox, key)
        const attempts = await inbox.events.attempts(key)
        return { attempts: attempts.map((attempt) => attemptView(attempt, seesDetail(access))) }
      },
    }),
  ]
}

export function eventKey({ source, id }: { source: string; id: string }): EventKey {
  return { source, eventId: id }
}

/** The event, or EVENT_NOT_FOUND. */
export async function existingEvent(inbox: Inbox, key: EventKey) {
  const event = await inbox.events.get(key)
  if (event === null) throw new HookonceError('EVENT_NOT_FOUND', { ...key })
  return event
}

export function payloadRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/events/:source/:id/payload',
      id: 'getPayload',
      summary: 'The bytes as they were received: a download, or JSON with base64 when JSON is asked for',
      can: 'payload',
      params: keyParams,
      query: noteFields,
      answers: {
        200: {
          about: 'The payload. For a delivery with several events, the whole of it.',
          content: { 'application/json': payloadShape, 'application/octet-stream': z.string() },
        },
      },
      problems: [400, 404, 410],
      async run({ access, request, params, query }) {
        const key = eventKey(params)
        await existingEvent(inbox, key)
        const store = await inbox.store()
        await need(store, 'audit', 'the admin API').append([
          { actor: access!.actor, verb: 'payload', ...key, reason: noteOf(request, query) },
        ])
        const payload = await need(store, 'inspect', 'the admin API').payload(key)
        if (payload === null) throw new HookonceError('PAYLOAD_REMOVED', { ...key })
        const { headers, body, part, receivedAt } = payload
        if ((request.headers.get('accept') ?? '').includes('application/json')) {
          const base64 = Buffer.from(body).toString('base64')
          return {
            source: key.source,
            id: key.eventId,
            part,
            receivedAt: instant(receivedAt),
            headers,
            body: base64,
          }
        }
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
  ]
}
