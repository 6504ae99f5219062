/** Counts per source. The store keeps them: asking costs the same however long the log is. */
import type { Inbox } from '../../../inbox.js'
import type { SourceStats } from '../../../model.js'
import { type Route, route } from '../route.js'
import { instant, json, statsShape } from '../shapes.js'

export function statsRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/stats',
      id: 'getStats',
      summary: 'Counts per source',
      can: 'read',
      answers: { 200: json('Counts per source, by name.', statsShape) },
      run: async () => statsOf(await inbox.events.stats()),
    }),
  ]
}

export function statsOf(stats: readonly SourceStats[]) {
  return { sources: stats.map((one) => ({ ...one, oldestDueAt: instant(one.oldestDueAt) })) }
}
