/** The bytes of an event. Who reads them is in the audit before the first byte leaves. */
import { z } from 'zod'
import { HookonceError } from '../../../errors.js'
import type { Inbox } from '../../../inbox.js'
import { reasonOf } from '../reason.js'
import { type Route, route } from '../route.js'
import { keyParams, payloadShape, reason } from '../shapes.js'
import { instant } from '../views.js'
import { found, keyOf } from './events.js'

export function payloadRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/events/:source/:id/payload',
      id: 'getPayload',
      summary: 'The bytes as they were received: a download, or JSON with base64 when JSON is asked for',
      can: 'payload',
      params: keyParams,
      query: { reason },
      answers: {
        200: {
          about: 'The payload. For a delivery with several events, the whole of it.',
          content: { 'application/json': payloadShape, 'application/octet-stream': z.string() },
        },
      },
      problems: [400, 404, 410],
      async run({ access, request, params, query }) {
        const key = keyOf(params)
        await found(inbox, key)
        const store = await inbox.store()
        await store.audit([
          { actor: access!.actor, verb: 'payload', ...key, reason: reasonOf(request, query.reason) },
        ])
        const payload = await store.payload(key)
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
        // Never shown by a browser: a payload is a stranger's text.
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
