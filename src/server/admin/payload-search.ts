/**
 * Searches stored payloads by a JSON path. Payloads have no index, so a call reads a bounded number of them and reports
 * the cost; `next` continues. In a form, it searches the fields.
 */
import { HookonceError, invalid } from '../../errors.js'
import type { WholeInbox } from '../../inbox/internals.js'
import type { EventFilter, EventRecord } from '../../model.js'
import type { Inspect } from '../../store/inspect.js'
import { inspectOf } from './capabilities.js'

export const operators = ['eq', 'ne', 'contains', 'exists', 'gt', 'lt'] as const

export interface PayloadQuery {
  readonly path: string
  readonly op: (typeof operators)[number]
  readonly value: string | undefined
}

const MOST_EVENTS = 10_000
const MOST_BYTES = 64 * 1024 * 1024
const MOST_MS = 1_000
/** Payloads read at the same time, and about how many bytes. The limits are checked after each such page. */
const READS = 8
const READ_BYTES = 8 * 1024 * 1024

export async function searchPayloads(
  inbox: WholeInbox,
  query: PayloadQuery,
  filter: EventFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
) {
  const steps = stepsOf(query.path)
  const matches = testOf(query)
  const inspect = await inspectOf(inbox)
  const reads = Math.max(1, Math.min(READS, Math.floor(READ_BYTES / inbox.limits.bodyBytes)))
  const startedAt = performance.now()
  const found: EventRecord[] = []
  let [events, bytes] = [0, 0]
  let next = cursor
  for (;;) {
    // Small pages: a search that stops at a limit continues behind the page.
    const page = await inbox.events.list(filter, { limit: reads, cursor: next })
    const bodies = await Promise.all(page.events.map((event) => bodyOf(inspect, event)))
    page.events.forEach((event, i) => {
      const body = bodies[i]
      if (body === undefined || body === null) return
      bytes += body.byteLength
      if (valuesAt(parsed(body), steps).some(matches)) found.push(event)
    })
    events += page.events.length
    next = page.next
    const over = events >= MOST_EVENTS || bytes >= MOST_BYTES || performance.now() - startedAt >= MOST_MS
    if (next === null || over || found.length >= limit) {
      const ms = Math.round(performance.now() - startedAt)
      return { events: found, next, cut: next !== null && found.length < limit, cost: { events, bytes, ms } }
    }
  }
}

/** Null when the bytes are removed or cannot be decrypted. */
async function bodyOf(inspect: Inspect, event: EventRecord): Promise<Uint8Array | null> {
  if (event.payload !== 'kept') return null
  try {
    return (await inspect.payload(event))?.body ?? null
  } catch (error) {
    if (error instanceof HookonceError && error.code.startsWith('ENCRYPTION_')) return null
    throw error
  }
}

function parsed(body: Uint8Array): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}

type Step = { readonly name: string } | '*' | '**'

/** `$.data.items[0].id`, `data.items[*].id`, `['a.b'].c`, `**.customer` at any depth; `**` alone: every text and number. */
export function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  let rest = path.trim().replace(/^\$/, '')
  if (rest !== '' && !/^[.[]/.test(rest)) rest = `.${rest}`
  const step = /^(?:\.([^.[\]]+)|\[(\d+|\*)\]|\['([^']*)'\]|\["([^"]*)"\])/
  while (rest !== '') {
    const match = step.exec(rest)
    if (match === null)
      throw invalid('path', 'must be a JSON path such as $.data.object.id, items[*].sku or **.customer')
    const name = match[1] ?? match[2] ?? match[3] ?? match[4] ?? ''
    steps.push(name === '*' || name === '**' ? name : { name })
    rest = rest.slice(match[0].length)
  }
  if (steps.length === 0 || steps.length > 32) throw invalid('path', 'must have 1 to 32 steps')
  return steps
}

/** At most ten thousand values, because each star multiplies them, and more where `**` visits all of the payload. */
export function valuesAt(value: unknown, steps: readonly Step[]): unknown[] {
  let found: unknown[] = [value]
  for (const [i, step] of steps.entries()) {
    if (step === '**') {
      found = withInner(found)
      if (i === steps.length - 1) found = found.filter((one) => typeof one !== 'object')
      continue
    }
    found = found.flatMap((one) => {
      if (typeof one !== 'object' || one === null) return []
      if (step === '*') return Object.values(one)
      return Object.hasOwn(one, step.name) ? [(one as Record<string, unknown>)[step.name]] : []
    })
    if (found.length > 10_000) found.length = 10_000
  }
  return found
}

const MOST_INNER = 200_000

/** The values and all below them. Not recursive: a sender may nest deeper than the stack. */
function withInner(values: readonly unknown[]): unknown[] {
  const all = new Set<unknown>()
  const scalars: unknown[] = []
  const waiting = [...values].reverse()
  while (waiting.length > 0 && all.size + scalars.length < MOST_INNER) {
    const one = waiting.pop()
    if (typeof one !== 'object' || one === null) scalars.push(one)
    else if (!all.has(one)) {
      all.add(one)
      for (const inner of Object.values(one).reverse()) waiting.push(inner)
    }
  }
  return [...all, ...scalars]
}

function testOf({ op, value }: PayloadQuery): (found: unknown) => boolean {
  if (op === 'exists') return () => true
  if (value === undefined) throw invalid('value', `is needed for ${op}`)
  const wanted = literal(value)
  switch (op) {
    case 'eq':
      return (found) => found === wanted || text(found) === value
    case 'ne':
      return (found) => !(found === wanted || text(found) === value)
    case 'contains':
      return (found) => text(found).toLowerCase().includes(value.toLowerCase())
    case 'gt':
    case 'lt': {
      const bound = Number(value)
      if (!Number.isFinite(bound)) throw invalid('value', `must be a number for ${op}`)
      return (found) => {
        const number =
          typeof found === 'number' ? found : typeof found === 'string' ? Number(found) : Number.NaN
        return op === 'gt' ? number > bound : number < bound
      }
    }
  }
}

/** Empty for a value nested too deeply for JSON.stringify. */
function text(found: unknown): string {
  if (typeof found === 'string') return found
  try {
    return JSON.stringify(found) ?? ''
  } catch {
    return ''
  }
}

/** `5`, `true` and `null` are JSON; other texts are themselves. */
function literal(value: string): unknown {
  try {
    const parsedValue: unknown = JSON.parse(value)
    return typeof parsedValue === 'object' && parsedValue !== null ? value : parsedValue
  } catch {
    return value
  }
}
