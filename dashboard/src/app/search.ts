/**
 * The search parameters of each route: their names, types and defaults. A value that is not allowed is dropped, so a
 * screen never meets one. The filters of the events are named as in the API: a link from anywhere selects the same.
 */
import type { SearchSchemaInput } from '@tanstack/react-router'

type Fields = Readonly<Record<string, (value: unknown) => unknown>>
type Parsed<F extends Fields> = { readonly [Name in keyof F]?: ReturnType<F[Name]> }

/** Every name is in the result: the router would otherwise keep the value that was dropped. */
function schema<F extends Fields>(fields: F) {
  return (search: Readonly<Record<string, unknown>>): Parsed<F> =>
    Object.fromEntries(
      Object.entries(fields).map(([name, parse]) => [name, parse(search[name])]),
    ) as Parsed<F>
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const positive = (value: unknown) => {
  const number = Number(value)
  return Number.isSafeInteger(number) && number > 0 ? number : undefined
}
const oneOf =
  <const T extends string>(...allowed: readonly T[]) =>
  (value: unknown): T | undefined =>
    allowed.find((one) => one === value)

const flag = oneOf('true', 'false')
const window = oneOf('1h', '24h', '7d', '30d')

export type Window = NonNullable<ReturnType<typeof window>>

export const overviewDefaults: { readonly window: Window } = { window: '24h' }

export function overviewSearch(search: Partial<typeof overviewDefaults> & SearchSchemaInput) {
  return { window: window(search.window) ?? overviewDefaults.window }
}

const filters = {
  source: text,
  type: text,
  state: oneOf('pending', 'processing', 'succeeded', 'failed', 'ignored'),
  dead: flag,
  reason: text,
  reasonLike: text,
  reference: text,
  label: text,
  id: text,
  from: text,
  to: text,
  minAttempts: positive,
  hasDuplicates: flag,
  hasConflict: flag,
  flagged: flag,
}

/** The filters that an action on all matching events can repeat. */
export const eventFilters = schema(filters)

export const eventsSearch = schema({
  ...filters,
  since: window,
  q: text,
  path: text,
  op: oneOf('eq', 'ne', 'contains', 'exists', 'gt', 'lt'),
  value: text,
  live: oneOf('off'),
})

export type EventFilters = ReturnType<typeof eventFilters>
export type EventsSearch = ReturnType<typeof eventsSearch>

export function parseSearch(address: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(address))
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const address = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return address === '' ? '' : `?${address}`
}
