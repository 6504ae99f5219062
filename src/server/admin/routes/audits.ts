/** What was done, by whom, and why. Reasons are people's words about events, so viewers do not see them. */
import { z } from 'zod'
import type { Inbox } from '../../../inbox.js'
import { type AuditFilter, need } from '../../../store.js'
import { filterQuery } from '../filter.js'
import { type Route, route } from '../route.js'
import { auditPageShape, json, keyParams, pageQuery } from '../shapes.js'
import { auditView } from '../views.js'
import { eventKey, existingEvent } from './events.js'

export function auditRoutes(inbox: Inbox): Route[] {
  async function page(filter: AuditFilter, limit: number, cursor: string | undefined) {
    const store = await inbox.store()
    const { audits, next } = await need(store, 'audit', 'the admin API').list(filter, {
      limit,
      cursor: cursor ?? null,
    })
    return { audits: audits.map(auditView), next }
  }
  const answers = { 200: json('A page, newest first.', auditPageShape) }
  return [
    route({
      method: 'GET',
      path: '/api/audits',
      id: 'listAudits',
      summary: 'What was done, newest first',
      can: 'detail',
      query: {
        source: filterQuery.source,
        id: filterQuery.id,
        actor: z.string().min(1).optional(),
        verb: z.string().min(1).optional(),
        from: filterQuery.from,
        to: filterQuery.to,
        ...pageQuery,
      },
      answers,
      problems: [400],
      run: async ({ query: { limit, cursor, id, ...conditions } }) => {
        const filter = { ...conditions, eventId: id }
        return page(
          Object.fromEntries(Object.entries(filter).filter(([, v]) => v !== undefined)),
          limit,
          cursor,
        )
      },
    }),
    route({
      method: 'GET',
      path: '/api/events/:source/:id/audits',
      id: 'listEventAudits',
      summary: 'What was done to an event, newest first',
      can: 'detail',
      params: keyParams,
      query: pageQuery,
      answers,
      problems: [400, 404],
      async run({ params, query: { limit, cursor } }) {
        const key = eventKey(params)
        await existingEvent(inbox, key)
        return page(key, limit, cursor)
      },
    }),
  ]
}
