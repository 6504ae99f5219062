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
  source: z.string().min(1).optional(),
  id: z.string().min(1).optional().describe('The exact event id'),
  type: z.string().min(1).optional().describe('The exact type, or a pattern with *'),
  state: state.optional(),
  reason: z.string().min(1).optional(),
  reasonLike: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe('A pattern for the reason or the last error, in which * stands for any text'),
  reference: z.string().min(1).optional(),
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
  hasDuplicates: flag.optional(),
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

export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

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
    shown: (event, q) => event.id === q || event.reference === q,
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

function readCursor(cursor: string | null): [number, string | null] {
  if (cursor === null) return [0, null]
  const match = /^([012])\.(.*)$/.exec(cursor)
  if (match === null) throw invalid('cursor', 'must be the value that a page of this list returned')
  return [Number(match[1]), match[2] || null]
}
