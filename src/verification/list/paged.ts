/** `pages` of a list in JSON, from what differs between senders: the address, the entries, and where the next page is. */
import { HookonceError } from '../../errors.js'
import type { ListRange, ListScope } from '../../provider.js'
import type { ApiAnswer, ApiRequest, SenderApi } from './api.js'
import type { ApiJson } from './api-json.js'
import type { Listed, ListRule } from './rule.js'

type Options = SenderApi['options']
type Query = NonNullable<ApiRequest['query']>

export interface PagedList {
  /** With `{project}` for the option of that name. */
  readonly path: string
  /** Of the first page; a cursor is added for each further one. */
  readonly query?: (range: ListRange, options: Options) => Query
  /** The same as the body of a POST. */
  readonly search?: (range: ListRange, options: Options) => object
  /** Such as `data[]`; `[]` if the answer is the list. */
  readonly items: string
  /** An answer without events has no list. Otherwise such an answer is an error, and not an empty list. */
  readonly omitsEmptyList?: true
  /** Null: not an event that the provider delivers. */
  readonly entry: (item: ApiJson, options: Options) => Listed | null
  readonly next: NextPage
  /** Reading ends with the first page outside the range. Needed when the sender does not filter all pages by time. */
  readonly sorted?: 'newest first' | 'oldest first'
}

/** What changes in the query of the first page, or the path of the next page. Null after the last page. */
export type NextPage = (answer: ApiAnswer, items: readonly ApiJson[], nth: number) => Query | string | null

export function paged(list: PagedList): ListRule['pages'] {
  return async function* (api, range) {
    const path = filled(list.path, api.options)
    const query = list.query?.(range, api.options)
    const search = list.search?.(range, api.options)
    const ask = (more: Query) =>
      search
        ? api.post(path, { body: { ...search, ...more } })
        : api.get(path, { query: { ...query, ...more } })
    let answer = await ask({})
    let asked = ''
    for (let nth = 1; ; nth += 1) {
      const [where] = list.items.split('[]')
      if (!list.omitsEmptyList && !answer.json.hasList(where!))
        throw failed(path, `it has no list at "${where}"`)
      const items = answer.json.each(list.items)
      const page = items.flatMap((item) => list.entry(item, api.options) ?? [])
      yield page
      const next = list.next(answer, items, nth)
      if (next === null || isOutside(range, list.sorted, page)) return
      if (JSON.stringify(next) === asked) throw failed(path, 'its next page is the page that was read')
      asked = JSON.stringify(next)
      answer = typeof next === 'string' ? await api.get(next) : await ask(next)
    }
  }
}

/** A cursor of the answer, sent back as `name`. */
export function cursor(name: string, path: string): NextPage {
  return ({ json }) => {
    const value = json.text(path)
    return value ? { [name]: value } : null
  }
}

/** The id of the last entry, sent back as `name`, while the flag `more` of the answer is true. */
export function afterLast(name: string, path: string, more: string): NextPage {
  return ({ json }, items) =>
    json.isTrue(more) ? { [name]: known(items.at(-1)?.text(path), `"${more}" without an entry`) } : null
}

/**
 * A number. Entries that are added before the page only repeat some, since these lists are sorted from the newest; a page that
 * is not full is the last.
 */
export function pageNumber(name: string, size: number): NextPage {
  return (_, items, nth) => (items.length < size ? null : { [name]: String(nth + 1) })
}

/** The URL of the next page, wherever the answer has it. Its host is not used: the key is only for the host of `baseUrl`. */
export function link(find: (answer: ApiAnswer) => string | null | undefined): NextPage {
  return (answer, items) => {
    const url = find(answer)
    if (!url || items.length === 0) return null
    const { pathname, search } = new URL(url, 'https://sender.invalid')
    return `${pathname}${search}`
  }
}

/** The sender says that there is more: to stop here would leave events out. */
export function known(next: string | undefined, problem: string): string {
  if (next === undefined) throw failed('the next page', `it has ${problem}`)
  return next
}

/** Asks for one event by its id. */
export function knows(path: string): NonNullable<ListRule['has']> {
  return async (api, id) =>
    (await api.find(`${filled(path, api.options)}/${encodeURIComponent(id)}`)) !== null
}

/** Null for several endpoints: nobody can say which of them is ours. */
export function scopeOfOnly(
  endpoints: readonly ApiJson[],
  read: (endpoint: ApiJson) => ListScope,
): ListScope | null {
  const [only, ...others] = endpoints
  return only === undefined || others.length > 0 ? null : read(only)
}

export function texts(json: ApiJson, path: string): string[] {
  return json.each(path).flatMap((value) => value.text('') ?? [])
}

/** `{project}` is the option of that name, escaped. */
export function filled(path: string, options: Options): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(options[name])))
}

export const iso = (at: number): string => new Date(at).toISOString()

/** The bytes of the answer inside other text: numbers keep all their digits. */
export function wrapped(before: string, { bytes }: ApiJson, after: string): Uint8Array {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
}

/** A page that is only partly outside is no end: neighbours may be out of order. */
function isOutside(
  { since, until }: ListRange,
  sorted: PagedList['sorted'],
  page: readonly Listed[],
): boolean {
  const times = page.map(({ occurredAt = since }) => occurredAt)
  if (sorted === undefined || times.length === 0) return false
  return times.every((at) => (sorted === 'newest first' ? at < since : at >= until))
}

function failed(what: string, problem: string): HookonceError {
  return new HookonceError('SENDER_FAILED', { name: 'the sender', what, problem })
}
