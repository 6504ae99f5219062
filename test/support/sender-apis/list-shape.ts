/** A sender's API from a description of its list. It refuses what the sender documents to refuse. */
import type { AskedRequest, FakeAnswer, SenderFake, SenderShape, SentEvent } from './server.js'

export interface ListShape {
  readonly isAllowed?: SenderShape['isAllowed']
  readonly method?: 'POST'
  readonly path: string
  /** The parameters of a request; of the JSON body with POST. Others are refused. */
  readonly parameters: readonly string[]
  readonly size: { readonly name: string; readonly max: number; readonly usual: number }
  readonly order: 'newest first' | 'oldest first'
  /** Pages have a number and are full. Those with a cursor have fewer entries than asked for. */
  readonly isNumbered?: true
  /** Undefined: refused. */
  readonly has: (asked: Asked) => ((event: SentEvent) => boolean) | undefined
  /** The first entry of the page; undefined: an unknown cursor. */
  readonly start: (asked: Asked, sorted: readonly SentEvent[]) => number | undefined
  readonly answer: (page: Page) => FakeAnswer
  readonly others?: SenderShape['answer']
}

const FEW = 70

export type Asked = Readonly<Record<string, unknown>>

export interface Page {
  readonly events: readonly SentEvent[]
  readonly isLast: boolean
  /** The place of the entry after this page. */
  readonly end: number
  readonly asked: Asked
  /** The address of the fake. */
  readonly url: string
}

export function listShape(shape: ListShape): SenderShape {
  return {
    ...(shape.isAllowed && { isAllowed: shape.isAllowed }),
    answer(request, fake) {
      if (request.path !== shape.path || request.method !== (shape.method ?? 'GET'))
        return shape.others?.(request, fake)
      const asked = shape.method === 'POST' ? JSON.parse(request.body) : ofQuery(request.query)
      return pageOf(shape, asked, fake)
    },
  }
}

function pageOf(shape: ListShape, asked: Asked, { events, url }: SenderFake): FakeAnswer {
  const unknown = Object.keys(asked).filter((name) => !shape.parameters.includes(name))
  const size = Number(asked[shape.size.name] ?? shape.size.usual)
  if (unknown.length > 0 || !(size >= 1 && size <= shape.size.max)) return refused(`${unknown} ${size}`)
  const wanted = shape.has(asked)
  if (wanted === undefined) return refused('the range')
  const sorted = events.filter(wanted).sort((a, b) => a.occurredAt - b.occurredAt)
  if (shape.order === 'newest first') sorted.reverse()
  const start = shape.start(asked, sorted)
  if (start === undefined) return refused('the cursor')
  const end = start + (shape.isNumbered ? size : Math.min(size, FEW))
  return shape.answer({ events: sorted.slice(start, end), isLast: end >= sorted.length, end, asked, url })
}

export function refused(what: string): FakeAnswer {
  return { status: 400, body: { message: `not valid: ${what}` } }
}

function ofQuery(query: URLSearchParams): Asked {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}

/** The entry after the one whose id was sent as a cursor. */
export function after(name: string, idOf: (event: SentEvent) => string = ({ id }) => id): ListShape['start'] {
  return (asked, sorted) => {
    if (asked[name] === undefined) return 0
    const at = sorted.findIndex((event) => idOf(event) === asked[name])
    return at < 0 ? undefined : at + 1
  }
}

/** An opaque cursor: the sender alone can read it. */
export const opaque = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export function opened(cursor: unknown): unknown {
  try {
    return JSON.parse(Buffer.from(String(cursor), 'base64url').toString())
  } catch {
    return undefined
  }
}

export function afterOpaque(name: string): ListShape['start'] {
  return (asked, sorted) => {
    if (asked[name] === undefined) return 0
    const at = sorted.findIndex(({ id }) => id === opened(asked[name]))
    return at < 0 ? undefined : at + 1
  }
}

/** Numbered from 1. */
export function numbered(name: string, size: (asked: Asked) => number): ListShape['start'] {
  return (asked) => (Number(asked[name] ?? 1) - 1) * size(asked)
}

/** Instants as text in ISO 8601. Undefined when one is not. */
export function between(
  from: unknown,
  to: unknown,
  { afterFrom = false, withTo = false }: { afterFrom?: boolean; withTo?: boolean } = {},
): ((event: SentEvent) => boolean) | undefined {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : instant(from)
  const end = to === undefined ? Number.POSITIVE_INFINITY : instant(to)
  if (Number.isNaN(start) || Number.isNaN(end)) return undefined
  return ({ occurredAt: at }) => (afterFrom ? at > start : at >= start) && (withTo ? at <= end : at < end)
}

function instant(text: unknown): number {
  const hasForm = typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)
  return hasForm ? Date.parse(text) : Number.NaN
}

export const iso = (at: number): string => new Date(at).toISOString()
export const bodyText = ({ delivery }: SentEvent): string => Buffer.from(delivery.body).toString()
// biome-ignore lint/suspicious/noExplicitAny: the bodies of senders
export const bodyOf = (event: SentEvent): any => JSON.parse(bodyText(event))
export const basicAuth =
  (user: (key: string) => string): NonNullable<SenderShape['isAllowed']> =>
  ({ headers }, key) =>
    headers.authorization === `Basic ${Buffer.from(user(key)).toString('base64')}`

/** The last part of a path that begins so. */
export function idAfter(prefix: string, { method, path }: AskedRequest): string | undefined {
  return method === 'GET' && path.startsWith(prefix)
    ? decodeURIComponent(path.slice(prefix.length))
    : undefined
}

/** One event by its id, or 404. */
export function one(
  prefix: string,
  request: AskedRequest,
  { events }: SenderFake,
  answer: (event: SentEvent) => unknown,
): FakeAnswer | undefined {
  const id = idAfter(prefix, request)
  const event = events.find((sent) => sent.id === id)
  return event && { body: answer(event) }
}
