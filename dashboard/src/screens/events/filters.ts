/**
 * The filters of the list. Their names in the address are those of the API, so that a link from anywhere selects the
 * same events; `since` is a time before now, such as `24h`.
 */
import type { Search } from '../../app/router'
import type { Shown } from '../../ui/state'

export const filterNames = [
  'source',
  'type',
  'state',
  'dead',
  'reason',
  'reasonLike',
  'reference',
  'id',
  'from',
  'to',
  'minAttempts',
  'hasDuplicates',
  'hasConflict',
  'flagged',
] as const
export type FilterName = (typeof filterNames)[number] | 'since' | 'q' | 'path' | 'op' | 'value'

const windows: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
}

/** The conditions of the address as the query of the API. The time of `since` is rounded, so that answers can be kept. */
export function queryOf(search: Search, now = Date.now()): Record<string, string> {
  const query: Record<string, string> = {}
  for (const name of filterNames) {
    const value = search[name]
    if (value) query[name] = value
  }
  const since = windows[search.since ?? '']
  if (since !== undefined && query.from === undefined) {
    query.from = String(Math.floor((now - since) / 60_000) * 60_000)
  }
  return query
}

/** The same conditions as the body of an action. Without any condition: all events until now. */
export function bodyOf(search: Search, now = Date.now()): Record<string, string | number | boolean> {
  const body: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(queryOf(search, now))) {
    body[name] =
      value === 'true' ? true : value === 'false' ? false : name === 'minAttempts' ? Number(value) : value
  }
  if (body.from !== undefined && /^\d+$/.test(String(body.from))) body.from = Number(body.from)
  // Events that arrive after the count are not a part of it.
  body.to ??= now
  return body
}

export function hasFilter(search: Search): boolean {
  return [...filterNames, 'since', 'q', 'path'].some((name) => search[name] !== undefined)
}

export type StateChoice = Shown | ''

/** `failed` is shown as two states, which the API tells apart by `dead`. */
export function stateChoice({ state, dead }: Search): StateChoice {
  if (dead === 'true') return 'dead'
  if (state === 'failed') return 'retrying'
  return (state ?? '') as StateChoice
}

export function stateFilter(choice: StateChoice): Search {
  if (choice === 'dead') return { state: 'failed', dead: 'true' }
  if (choice === 'retrying') return { state: 'failed', dead: 'false' }
  return { state: choice || undefined, dead: undefined }
}

/** The filters in words, for confirmations. */
export function describe(search: Search): string {
  const parts: string[] = []
  const state = stateChoice(search)
  if (state) parts.push(`state ${state === 'dead' ? 'dead letter' : state}`)
  if (search.source) parts.push(`source ${search.source}`)
  if (search.type) parts.push(`type ${search.type}`)
  if (search.reference) parts.push(`reference ${search.reference}`)
  if (search.id) parts.push(`id ${search.id}`)
  if (search.reason ?? search.reasonLike) parts.push(`reason ${search.reason ?? search.reasonLike}`)
  if (search.minAttempts) parts.push(`at least ${search.minAttempts} attempts`)
  if (search.hasDuplicates === 'true') parts.push('duplicates')
  if (search.hasConflict === 'true') parts.push('conflicts')
  if (search.flagged === 'true') parts.push('flagged content')
  if (search.since) parts.push(`a time in the last ${search.since}`)
  if (search.from) parts.push(`a time since ${search.from}`)
  if (search.to) parts.push(`a time before ${search.to}`)
  return parts.length === 0 ? 'all events of the log' : `all events with ${parts.join(', ')}`
}
