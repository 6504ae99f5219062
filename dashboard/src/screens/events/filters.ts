/** The filters of the list: as the query of the API, as the body of an action, and in words. */
import type { ActionFilter } from '../../api/client'
import { type EventFilters, type EventsSearch, eventFilters } from '../../app/search'
import type { Shown } from '../../ui/state'

const HOUR_MS = 3_600_000
const sinceMs = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS, '30d': 30 * 24 * HOUR_MS }

/** The time of `since` is rounded by a hundredth: on the way back to a list, its rows are still those that were kept. */
export function queryOf(search: EventsSearch, now = Date.now()): EventFilters {
  const filters = eventFilters(search)
  if (search.since === undefined || filters.from !== undefined) return filters
  const ms = sinceMs[search.since]
  const step = Math.max(60_000, ms / 100)
  const from = Math.floor((now - ms) / step) * step
  return { ...filters, from: String(from) }
}

/** Without any condition: all events until now. */
export function bodyOf(search: EventsSearch, now = Date.now()): ActionFilter {
  const { dead, hasDuplicates, hasConflict, flagged, from, to, ...rest } = queryOf(search, now)
  const yes = (text: 'true' | 'false' | undefined) => (text === undefined ? undefined : text === 'true')
  const time = (text: string | undefined) => (text && /^\d+$/.test(text) ? Number(text) : text)
  return {
    ...rest,
    dead: yes(dead),
    hasDuplicates: yes(hasDuplicates),
    hasConflict: yes(hasConflict),
    flagged: yes(flagged),
    from: time(from),
    // Events that arrive after the count are not a part of it.
    to: time(to) ?? now,
  }
}

export function hasFilter(search: EventsSearch): boolean {
  const { since, q, path } = search
  return Object.values({ ...eventFilters(search), since, q, path }).some((value) => value !== undefined)
}

/** A list of failures shows the errors wide. */
export function isAboutReasons({ state, dead, reason, reasonLike }: EventsSearch): boolean {
  return state === 'failed' || state === 'ignored' || dead !== undefined || Boolean(reason ?? reasonLike)
}

export function notesTitle(search: EventsSearch): string {
  if (!isAboutReasons(search)) return 'Notes'
  return search.state === 'ignored' ? 'Reason' : 'Error'
}

/** What a person types becomes a pattern of the API, and back. */
export function patternOf(text: string): string | undefined {
  if (text === '') return undefined
  return text.includes('*') ? text : `*${text}*`
}

export function textOf(pattern: string | undefined): string {
  return /^\*([^*]+)\*$/.exec(pattern ?? '')?.[1] ?? pattern ?? ''
}

export type StateChoice = Shown | ''

/** `failed` is shown as two states, which the API tells apart by `dead`. */
export function stateChoice({ state, dead }: EventsSearch): StateChoice {
  if (dead === 'true') return 'dead'
  return state === 'failed' ? 'retrying' : (state ?? '')
}

export function stateFilter(choice: StateChoice): EventsSearch {
  if (choice === 'dead') return { state: 'failed', dead: 'true' }
  if (choice === 'retrying') return { state: 'failed', dead: 'false' }
  return { state: choice || undefined, dead: undefined }
}

export function describe(search: EventsSearch): string {
  const parts: string[] = []
  const state = stateChoice(search)
  if (state) parts.push(`state ${state === 'dead' ? 'dead letter' : state}`)
  if (search.source) parts.push(`source ${search.source}`)
  if (search.type) parts.push(`type ${search.type}`)
  if (search.reference) parts.push(`${search.label ?? 'reference'} ${search.reference}`)
  if (search.id) parts.push(`id ${search.id}`)
  if (search.reason ?? search.reasonLike) parts.push(`reason ${search.reason ?? search.reasonLike}`)
  if (search.minAttempts) parts.push(`at least ${search.minAttempts} attempts`)
  if (search.hasDuplicates === 'true') parts.push('duplicates')
  if (search.hasConflict === 'true') parts.push('open conflicts')
  if (search.flagged === 'true') parts.push('flagged content')
  if (search.since) parts.push(`a time in the last ${search.since}`)
  if (search.from) parts.push(`a time since ${search.from}`)
  if (search.to) parts.push(`a time before ${search.to}`)
  return parts.length === 0 ? 'all events of the log' : `all events with ${parts.join(', ')}`
}
