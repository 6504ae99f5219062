/** `GET /api/stream`: events as they enter the log. */
import { z } from 'zod'
import { invalid } from '../../../errors.js'
import type { Inbox } from '../../../inbox.js'
import { type Route, route } from '../route.js'
import type { Streams } from '../streams.js'
import { seesDetail } from '../views.js'

export function streamRoutes(inbox: Inbox, streams: Streams): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/stream',
      id: 'streamEvents',
      summary:
        'Events as they enter the log: `recorded`, `gap` when some were missed, `stats` when counts change',
      can: 'read',
      query: {
        source: z.string().min(1).optional(),
        after: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe(
            'A position: the id of an earlier event of the stream. The header Last-Event-ID goes first',
          ),
      },
      answers: { 200: { about: 'The stream.', content: { 'text/event-stream': z.string() } } },
      problems: [400, 503],
      async run({ request, access, query: { source, after = null } }) {
        const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
        if (request.method === 'HEAD') return new Response(null, { headers })
        await inbox.store() // a log that cannot be read is a problem now, not a stream that breaks off
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

function lastEventId(request: Request): number | null {
  const text = request.headers.get('last-event-id')
  if (text === null || text === '') return null
  if (!/^\d{1,15}$/.test(text))
    throw invalid('Last-Event-ID', 'must be a position of this stream, a whole number')
  return Number(text)
}
