import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import type { EventFilter } from '../../../model.js'
import { type Attention, screens, severities } from '../attention.js'
import { inspectOf } from '../capabilities.js'
import { errorGroups, groupView } from '../dead-letters.js'
import { countNames, overviewOf, type Window, windows } from '../overview.js'
import { type Route, route } from '../route.js'
import { at, count, json, keyParams, latencyShape, waitingShape } from '../shapes.js'
import { seesDetail } from '../views.js'

const text = z.string()
const windowNames = Object.keys(windows) as [Window, ...Window[]]
const counts = z.strictObject(Object.fromEntries(countNames.map((name) => [name, count])))
const series = z.strictObject(Object.fromEntries(countNames.map((name) => [name, z.array(count)])))
const latencies = z.strictObject({ ack: latencyShape, handle: latencyShape })
export const linkFilter = z.record(text, text)

const overviewShape = z.strictObject({
  window: z.enum(windowNames),
  stepMs: count,
  at: z.array(at).describe('The start of each bucket; every series has this length'),
  totals: counts.describe('`failed` counts attempts; `dead` counts events that became dead letters'),
  series,
  latency: latencies,
  sources: z.array(
    z.strictObject({ source: text, totals: counts, received: z.array(count), latency: latencies }),
  ),
  now: z.strictObject({
    pending: count,
    processing: count,
    retrying: count,
    dead: count,
    ignored: count,
    oldest: z
      .strictObject({
        ...keyParams,
        receivedAt: at,
        ageMs: count,
        waiting: waitingShape.nullable(),
      })
      .nullable()
      .describe('The unfinished event that was received first, whenever it is due'),
    estimated: z.boolean(),
  }),
})

const attentionShape = z.strictObject({
  items: z.array(
    z.strictObject({
      id: text,
      kind: text,
      severity: z.enum(severities),
      title: text,
      text,
      todo: text.describe('What to do'),
      count: count.nullable(),
      source: text.nullable(),
      lastAt: at.nullable(),
      screen: z.enum(screens),
      filter: linkFilter.nullable().describe('The query of GET /api/events that lists its events'),
    }),
  ),
})

const deadLettersShape = z.strictObject({
  groups: z.array(
    z.strictObject({
      source: text,
      error: text.nullable().describe('The first line of the newest error; null for viewers'),
      types: z.array(text),
      count,
      firstAt: at,
      lastAt: at,
      sample: z.strictObject(keyParams).describe('The newest of them'),
      filter: linkFilter.describe('The query of GET /api/events that lists them'),
    }),
  ),
  scanned: count,
  cut: z.boolean().describe('True when there are more dead letters than were read'),
})

const reviewShape = z.strictObject({
  lists: z.array(
    z.strictObject({
      kind: z.enum(['unhandled', 'replayed_content', 'stale', 'flagged', 'conflict']),
      title: text,
      todo: text,
      count,
      more: z.boolean().describe('True when there are more than `count`'),
      types: z
        .array(z.strictObject({ source: text, type: text, count }))
        .describe('Of the events that were counted'),
      lastAt: at.nullable(),
      filter: linkFilter,
    }),
  ),
})

export function overviewRoutes(inbox: WholeInbox, attention: Attention): Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/overview',
      id: 'getOverview',
      summary: 'Counts and latencies of a window of time, as series and sums, over all processes of the log',
      can: 'read',
      query: { window: z.enum(windowNames).default('24h').describe('The time up to now') },
      answers: { 200: json('The window. Its last bucket is not complete.', overviewShape) },
      run: ({ query }) => overviewOf(inbox, query.window),
    }),
    route({
      method: 'GET',
      path: '/api/attention',
      id: 'getAttention',
      summary: 'What needs a person, the most severe first',
      can: 'read',
      answers: { 200: json('The entries.', attentionShape) },
      run: async ({ access }) => ({ items: await attention.items(seesDetail(access)) }),
    }),
    route({
      method: 'GET',
      path: '/api/dead-letters',
      id: 'listDeadLetters',
      summary: 'Dead letters grouped by source and error, the latest first',
      can: 'read',
      query: {
        source: text.min(1).optional().describe('The name of a source'),
        limit: z.coerce.number().int().min(1).max(500).default(100).describe('Maximum number of groups'),
      },
      answers: { 200: json('The groups.', deadLettersShape) },
      async run({ access, query: { source, limit } }) {
        const { groups, scanned, cut } = await errorGroups(await inspectOf(inbox), source)
        const shown = groups.slice(0, limit).map((group) => groupView(group, seesDetail(access)))
        return { groups: shown, scanned, cut: cut || groups.length > limit }
      },
    }),
    route({
      method: 'GET',
      path: '/api/review',
      id: 'getReview',
      summary: 'The review list: events that were recorded and need a decision',
      can: 'read',
      answers: { 200: json('A list for each kind.', reviewShape) },
      run: async () => ({ lists: await Promise.all(kinds.map((kind) => reviewList(inbox, kind))) }),
    }),
  ]
}

interface ReviewKind {
  readonly kind: string
  readonly title: string
  readonly todo: string
  readonly filter: EventFilter
}

const kinds: readonly ReviewKind[] = [
  {
    kind: 'unhandled',
    title: 'No handler for the type',
    todo: 'Add a handler and retry them, or stop these types at the provider and ignore them.',
    filter: { state: 'ignored', reason: 'unhandled' },
  },
  {
    kind: 'replayed_content',
    title: 'Known content under a new id',
    todo: 'Compare with the event that it equals. Retry it only if the sender confirms that it is another event.',
    filter: { state: 'ignored', reason: 'replayed_content' },
  },
  {
    kind: 'stale',
    title: 'Older than what was already handled',
    todo: 'Usually nothing: a newer event of the same subject was handled first.',
    filter: { state: 'ignored', reason: 'stale' },
  },
  {
    kind: 'flagged',
    title: 'Handled, and repeats the content of another event',
    todo: 'Check that its effect did not happen twice.',
    filter: { flagged: true },
  },
  {
    kind: 'conflict',
    title: 'Delivered again with other content',
    todo: 'Compare the two contents. The first was handled: run the other one, or keep the first.',
    filter: { hasConflict: true },
  },
]

const COUNTED = 200

async function reviewList(inbox: WholeInbox, { kind, title, todo, filter }: ReviewKind) {
  const { events, next } = await inbox.events.list(filter, { limit: COUNTED })
  const types = new Map<string, { source: string; type: string; count: number }>()
  for (const { source, type } of events) {
    const key = JSON.stringify([source, type])
    types.set(key, { source, type, count: (types.get(key)?.count ?? 0) + 1 })
  }
  const link = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)]))
  return {
    kind,
    title,
    todo,
    count: events.length,
    more: next !== null,
    types: [...types.values()].sort((a, b) => b.count - a.count),
    lastAt: events[0]?.receivedAt ?? null,
    filter: link,
  }
}
