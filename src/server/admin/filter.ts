/** Filters as query parameters and as JSON, and the search `q` for an id, a reference or a type. */
import { z } from 'zod'
import { invalid } from '../../errors.js'
import type { EventFilter, EventPage, EventRecord } from '../../model.js'
import { state } from './shapes.js'

const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
const moment = z
  .string()
  .max(40)
  .transform((value, context) => {
    const at = /^\d+$/.test(value) ? Number(value) : Date.parse(value)
    if (Number.isFinite(at)) return at
    context.addIssue({ code: 'custom', message: 'must be ISO 8601 or milliseconds since 1970' })
    return z.NEVER
  })

const texts = {
  source: z.string().min(1).optional().describe('The name of a source'),
  id: z.string().min(1).optional().describe('The exact event id'),
  type: z.string().min(1).optional().describe('The exact type, or a pattern with *'),
  state: state.optional().describe('Only events in this state'),
  reason: z.string().min(1).optional().describe('The exact reason of ignored events, such as `unhandled`'),
  reasonLike: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe('A pattern for the reason or the last error, in which * stands for any text'),
  reference: z.string().min(1).optional().describe('The exact value of a reference, whatever its label is'),
  label: z.string().min(1).optional().describe('With `reference`: its label, such as `customer`'),
}

export const filterQuery = {
  ...texts,
  dead: flag.optional().describe('Only failed events. true: dead letters; false: events with a next attempt'),
  from: moment.optional().describe('Received at or after this time: ISO 8601 or milliseconds since 1970'),
  to: moment.optional().describe('Received before this time'),
  minAttempts: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Only events with at least this many attempts'),
  hasDuplicates: flag.optional().describe('Only events that were delivered more than once'),
  hasConflict: flag.optional().describe('Only events with an open conflict'),
  flagged: flag.optional().describe('Only events with the signed content of another event'),
}

const bodyMoment = z.union([moment, z.int().min(0)])
export const filterBody = z
  .strictObject({
    ...texts,
    dead: z.boolean().optional(),
    from: bodyMoment.optional(),
    to: bodyMoment.optional(),
    minAttempts: z.int().min(1).optional(),
    hasDuplicates: z.boolean().optional(),
    hasConflict: z.boolean().optional(),
    flagged: z.boolean().optional(),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
    message: 'an empty filter would match every event; name at least one condition',
  })

type List = (filter: EventFilter, page: { limit: number; cursor: string | null }) => Promise<EventPage>

/**
 * The lists of a search, best matches first. Each uses an index of the store and leaves out the events of earlier
 * lists.
 */
const ways: readonly {
  readonly filter: (q: string) => EventFilter
  readonly shown: (event: EventRecord, q: string) => boolean
}[] = [
  { filter: (q) => ({ id: q }), shown: () => false },
  { filter: (q) => ({ reference: q }), shown: (event, q) => event.id === q },
  {
    filter: (q) => ({ type: q.includes('*') ? q : `${q}*` }),
    shown: (event, q) =>
      event.id === q || event.reference === q || event.references.some(({ value }) => value === q),
  },
]

/** Finds `q` as an id, then as a reference, then as the beginning of a type, with at most one query for each. */
export async function search(
  list: List,
  q: string,
  filter: EventFilter,
  page: { limit: number; cursor: string | null },
): Promise<EventPage> {
  let [way, cursor] = readCursor(page.cursor)
  const events: EventRecord[] = []
  for (; way < ways.length; way++, cursor = null) {
    const { filter: narrow, shown } = ways[way]!
    const wanted = narrow(q)
    // `q` cannot widen a filter on the same field.
    if (Object.keys(wanted).some((key) => key in filter)) continue
    const found = await list({ ...filter, ...wanted }, { limit: page.limit - events.length, cursor })
    events.push(...found.events.filter((event) => !shown(event, q)))
    if (found.next !== null)
      return { events, next: `${way}.${found.next}`, ...(found.cut && { cut: found.cut }) }
    if (events.length === page.limit) return { events, next: way + 1 < ways.length ? `${way + 1}.` : null }
  }
  return { events, next: null }
}

const MOST_COUNTED = 1_000
const COUNT_PAGE = 500
const MOST_COUNT_MS = 500

/** Counts the pages of a list, up to 1,000 events or half a second. `more`: there are others, or there may be. */
export async function countEvents(
  pageOf: (page: { limit: number; cursor: string | null }) => Promise<EventPage>,
): Promise<{ count: number; more: boolean }> {
  const startedAt = performance.now()
  let count = 0
  let cursor: string | null = null
  for (;;) {
    const limit = Math.min(COUNT_PAGE, MOST_COUNTED - count)
    const { events, next }: EventPage = await pageOf({ limit, cursor })
    count += events.length
    cursor = next
    const over = count >= MOST_COUNTED || performance.now() - startedAt >= MOST_COUNT_MS
    if (next === null || over) return { count, more: next !== null }
  }
}

function readCursor(cursor: string | null): [number, string | null] {
  if (cursor === null) return [0, null]
  const match = /^([012])\.(.*)$/.exec(cursor)
  if (match === null) throw invalid('cursor', 'must be the value that a page of this list returned')
  return [Number(match[1]), match[2] || null]
}
