import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import { defined } from '../../../options.js'
import { audit, inspectOf, noteAbout } from '../capabilities.js'
import { filterQuery } from '../filter.js'
import { find } from '../find.js'
import { operators, searchPayloads } from '../payload-search.js'
import { type Route, route } from '../route.js'
import { count, eventPageShape, eventShape, json, noteFields, pageQuery } from '../shapes.js'
import { eventView, seesDetail } from '../views.js'

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
      query: {
        q: text
          .min(1)
          .max(4_000)
          .describe('An id, its beginning, a reference, or a URL or text with one of them'),
      },
      answers: { 200: json('The matches, the best first.', findShape) },
      async run({ access, query: { q } }) {
        const detail = seesDetail(access)
        const matches = await find(inbox, q)
        const waiting = await inbox.events.waiting(matches.map(({ event }) => event))
        return {
          matches: matches.map(({ event, by }, i) => ({ event: eventView(event, detail, waiting[i]), by })),
        }
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
        path: text
          .min(1)
          .max(500)
          .describe(
            'Such as $.data.object.id, items[*].sku, **.customer at any depth, or ** for every value',
          ),
        op: z.enum(operators).default('eq').describe('How the value at the path is compared'),
        value: text.max(1_000).optional().describe('The value; not needed for `exists`'),
        ...noteFields,
        ...pageQuery,
      },
      answers: { 200: json('A page, newest first. `next` continues the search.', searchShape) },
      async run({ access, query: { path, op, value, note = '', limit, cursor = null, ...conditions } }) {
        const about = noteAbout(`${path} ${op}`, note)
        await audit(inbox, { actor: access!.actor, verb: 'search', note: about })
        const page = await searchPayloads(inbox, { path, op, value }, defined(conditions), { limit, cursor })
        const waiting = await inbox.events.waiting(page.events)
        return { ...page, events: page.events.map((event, i) => eventView(event, true, waiting[i])) }
      },
    }),
  ]
}
