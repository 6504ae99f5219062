import { z } from 'zod'
import { SourceCounters } from '../../../counters.js'
import type { WholeInbox } from '../../../inbox/internals.js'
import type { Source } from '../../../provider.js'
import { type Route, route } from '../route.js'
import { count, json, spoolShape, statsShape } from '../shapes.js'
import { statsView } from '../views.js'

const text = z.string()
const sourcesShape = z.strictObject({
  sources: z.array(
    z.strictObject({
      name: text,
      path: text.describe('The path of its deliveries on the receiving server'),
      provider: z.strictObject({ key: text, name: text, docs: text }),
      verified: z
        .boolean()
        .describe('False when deliveries are not verified: anyone who can reach the path can record events'),
      scheme: text.describe('How deliveries are signed'),
      idIsSigned: z.boolean(),
      retryWindowMs: count.nullable(),
      mode: z.enum(['background', 'inline']),
      conflict: z.enum(['ack', 'reject']),
      contentGuard: z.enum(['review', 'accept', 'reject']),
      order: z.string().nullable().describe('`reference`, or the label that events are ordered by'),
      canReconcile: z
        .boolean()
        .describe('It has an API key, so that the log can be compared with the sender’s own list'),
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
        .describe('Counters of this process since it started'),
    }),
  ),
})

export const sourceShape = sourcesShape.shape.sources.element

export function sourceRoutes(inbox: WholeInbox): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/sources',
      id: 'listSources',
      summary: 'The configured sources and their counters',
      can: 'read',
      answers: { 200: json('By name.', sourcesShape) },
      run: async () => ({
        sources: [...inbox.sources]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, source]) => sourceView(inbox, name, source)),
      }),
    }),
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

export function sourceView(inbox: WholeInbox, name: string, source: Source) {
  const { key, docs, idIsSigned, retryWindowMs, mode, conflict, contentGuard, order } = source
  const { received, recorded, duplicates, conflicts, replayed, handshakes, rejected } =
    inbox.counters.bySource.get(name) ?? new SourceCounters()
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
    canReconcile: source.list?.problem === null,
    since: { received, recorded, duplicates, conflicts, replayed, handshakes, rejected: { ...rejected } },
  }
}

/** Leaves out the last error, which may name an internal host. */
export async function spoolOf({ spool }: WholeInbox) {
  if (spool === null) return null
  const { depth, bytes, maxBytes, setAside, oldestAt, storeAway, draining } = await spool.status()
  return { depth, bytes, maxBytes, setAside, oldestAt, storeAway, draining }
}
