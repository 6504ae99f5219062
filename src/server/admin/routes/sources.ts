/** The sources: facts about each, and how it has been since this process started. Secrets are not among them. */
import { z } from 'zod'
import type { Inbox } from '../../../inbox.js'
import type { Source } from '../../../provider.js'
import { type Route, route } from '../route.js'
import { count, json, spoolShape, statsShape } from '../shapes.js'
import { instant, statsView } from '../views.js'

const text = z.string()
const sourcesShape = z.strictObject({
  sources: z.array(
    z.strictObject({
      name: text,
      path: text.describe('Where its deliveries go, on the server that receives'),
      provider: z.strictObject({ key: text, name: text, docs: text }),
      verified: z.boolean().describe('False: anyone who can reach it can record events'),
      scheme: text.describe('How deliveries are signed'),
      idIsSigned: z.boolean(),
      retryWindowMs: count.nullable(),
      mode: z.enum(['background', 'inline']),
      conflict: z.enum(['ack', 'reject']),
      contentGuard: z.enum(['review', 'accept', 'reject']),
      order: z.enum(['reference']).nullable(),
      secretHits: z
        .array(count)
        .describe('How often each configured secret has matched, in order, in this process'),
      since: z
        .strictObject({
          received: count,
          recorded: count,
          duplicates: count,
          conflicts: count,
          replayed: count,
          handshakes: count,
          rejected: z.record(text, count).describe('By reason'),
        })
        .describe('What this process has seen since it started'),
    }),
  ),
})

export function sourceRoutes(inbox: Inbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/sources',
      id: 'listSources',
      summary: 'The configured sources and how they are',
      can: 'read',
      answers: { 200: json('By name.', sourcesShape) },
      run: async () => ({
        sources: [...inbox.sources]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, source]) => sourceView(inbox, name, source)),
      }),
    }),
  ]
}

function sourceView(inbox: Inbox, name: string, source: Source) {
  const { key, docs, idIsSigned, retryWindowMs, mode, conflict, contentGuard, order, secretHits } = source
  const seen = inbox.counters.bySource.get(name)
  const none = {
    received: 0,
    recorded: 0,
    duplicates: 0,
    conflicts: 0,
    replayed: 0,
    handshakes: 0,
    rejected: {},
  }
  return {
    name,
    path: `/webhooks/${name}`,
    provider: { key, name: source.name, docs },
    verified: !source.unverified,
    scheme: source.scheme.kind,
    idIsSigned,
    retryWindowMs,
    mode,
    conflict,
    contentGuard,
    order,
    secretHits: [...secretHits],
    // Named one by one: what other parts come to count there is not ours to show.
    since: Object.fromEntries(
      Object.keys(none).map((name) => [name, (seen ?? none)[name as keyof typeof none]]),
    ),
  }
}

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
