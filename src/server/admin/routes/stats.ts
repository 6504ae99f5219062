/** Counts per source. The store keeps them: asking costs the same however long the log is. */
import type { Inbox } from '../../../inbox.js'
import { type Route, route } from '../route.js'
import { json, spoolShape, statsShape } from '../shapes.js'
import { instant, statsView } from '../views.js'

export function statsRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/stats',
      id: 'getStats',
      summary: 'Counts per source',
      can: 'read',
      answers: {
        200: json(
          'Counts per source, by name, and the spool.',
          statsShape.extend({ spool: spoolShape.nullable() }),
        ),
      },
      run: async () => ({ ...statsView(await inbox.events.stats()), spool: await spoolOf(inbox) }),
    }),
  ]
}

/** Without its last error, which may name a host of the inside. */
async function spoolOf({ spool }: Inbox) {
  if (spool === null) return null
  const { depth, bytes, maxBytes, refused, oldestAt, storeAway, draining } = await spool.status()
  return { depth, bytes, maxBytes, refused, oldestAt: instant(oldestAt), storeAway, draining }
}
