import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import { audit, inspectOf, noteAbout } from '../capabilities.js'
import { exportBody, formats } from '../export.js'
import { filterQuery, present } from '../filter.js'
import { find } from '../find.js'
import { operators, searchPayloads } from '../payload-search.js'
import { noteOf, type Route, route } from '../route.js'
import { count, eventPageShape, eventShape, json, noteFields, pageQuery } from '../shapes.js'
import { eventView, seesDetail } from '../views.js'
import { checkReasonFilter } from './events.js'

const text = z.string()
const TYPES = 200

const findShape = z.strictObject({
  matches: z.array(z.strictObject({ event: eventShape, by: z.enum(['id', 'id_prefix', 'reference']) })),
})

const facetsShape = z.strictObject({
  sources: z.array(
    z.strictObject({
      source: text,
      types: z.array(text),
      more: z.boolean().describe('True when types are left out'),
    }),
  ),
})

const searchShape = eventPageShape.extend({
  cost: z.strictObject({ events: count, bytes: count, ms: count }).describe('What this call has read'),
})

export function findRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/find',
      id: 'findEvents',
      summary:
        'Events by whatever was pasted: an id, its beginning, a reference, a URL or a text that contains one',
      can: 'read',
      query: { q: text.min(1).max(4_000) },
      answers: { 200: json('The matches, the best first.', findShape) },
      async run({ access, query: { q } }) {
        const detail = seesDetail(access)
        const matches = await find(inbox, q)
        return { matches: matches.map(({ event, by }) => ({ event: eventView(event, detail), by })) }
      },
    }),
    route({
      method: 'GET',
      path: '/api/facets',
      id: 'getFacets',
      summary: 'The sources and types of the log',
      can: 'read',
      answers: { 200: json('By name.', facetsShape) },
      run: async () => ({ sources: await (await inspectOf(inbox)).types(TYPES) }),
    }),
    route({
      method: 'GET',
      path: '/api/search',
      id: 'searchPayloads',
      summary:
        'Events whose stored payload has a value at a JSON path; each call reads a bounded number of payloads',
      can: 'payload',
      query: {
        ...filterQuery,
        path: text.min(1).max(500).describe('Such as $.data.object.id, items[0].sku or items[*].sku'),
        op: z.enum(operators).default('eq'),
        value: text.max(1_000).optional(),
        ...noteFields,
        ...pageQuery,
      },
      answers: { 200: json('A page, newest first. `next` continues the search.', searchShape) },
      async run({ access, request, query: { path, op, value, note, limit, cursor = null, ...conditions } }) {
        const about = noteAbout(`${path} ${op}`, noteOf(request, { note }))
        await audit(inbox, { actor: access!.actor, verb: 'search', note: about })
        const page = await searchPayloads(inbox, { path, op, value }, present(conditions), { limit, cursor })
        return { ...page, events: page.events.map((event) => eventView(event, true)) }
      },
    }),
    route({
      method: 'GET',
      path: '/api/export',
      id: 'exportEvents',
      summary: 'The events that match, as a download without payloads',
      can: 'read',
      query: {
        ...filterQuery,
        format: z.enum(formats).default('ndjson'),
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .max(1_000_000)
          .default(100_000)
          .describe('Maximum number of events'),
      },
      answers: {
        200: {
          about: 'The events, newest first.',
          content: { 'application/x-ndjson': text, 'text/csv': text },
        },
      },
      async run({ access, request, query: { format, limit, ...conditions } }) {
        checkReasonFilter(access, conditions)
        const headers = {
          'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="events.${format}"`,
        }
        if (request.method === 'HEAD') return new Response(null, { headers })
        const detail = seesDetail(access)
        return new Response(await exportBody(inbox, present(conditions), { format, limit, detail }), {
          headers,
        })
      },
    }),
  ]
}
