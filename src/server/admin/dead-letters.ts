/**
 * Groups dead letters by error. Errors that differ only in numbers, ids and quoted texts are one group. The pattern of
 * a group selects exactly its events again, in a list and in an action.
 */
import type { DeadLetterGroup, Inspect } from '../../store.js'

export interface ErrorGroup {
  readonly source: string
  readonly pattern: string
  readonly error: string | null
  readonly types: readonly string[]
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly eventId: string
  readonly texts: number
}

/** Takes about 50 ms on either store. */
const SCAN = 20_000
const SHOWN_CHARACTERS = 300
const TYPES = 20

export async function errorGroups(
  inspect: Pick<Inspect, 'deadLetters'>,
  source?: string,
): Promise<{ groups: ErrorGroup[]; scanned: number; cut: boolean }> {
  const { groups, scanned, cut } = await inspect.deadLetters({
    limit: SCAN,
    ...(source === undefined ? {} : { source }),
  })
  const byPattern = new Map<string, ErrorGroup>()
  for (const group of groups) {
    const pattern = patternOf(group.error ?? '')
    const key = JSON.stringify([group.source, pattern])
    byPattern.set(key, joined(byPattern.get(key), group, pattern))
  }
  return { groups: [...byPattern.values()].sort((a, b) => b.lastAt - a.lastAt), scanned, cut }
}

function joined(known: ErrorGroup | undefined, next: DeadLetterGroup, pattern: string): ErrorGroup {
  const newest = known === undefined || next.lastAt >= known.lastAt
  return {
    source: next.source,
    pattern,
    error: newest ? next.error : known.error,
    types: [...new Set([...(known?.types ?? []), next.type])].sort().slice(0, TYPES),
    count: next.count + (known?.count ?? 0),
    firstAt: Math.min(next.firstAt, known?.firstAt ?? next.firstAt),
    lastAt: Math.max(next.lastAt, known?.lastAt ?? next.lastAt),
    eventId: newest ? next.eventId : known.eventId,
    texts: (known?.texts ?? 0) + 1,
  }
}

const variable =
  /"[^"\n]{1,200}"|'[^'\n]{1,200}'|[0-9a-f]{8}-[0-9a-f-]{27}|\b(?=[\w-]*\d)[\w-]{6,}\b|\d+(?:[.,:]\d+)*/gi

/** A star stands for each part that varies, and for all lines but the first. */
export function patternOf(error: string): string {
  const line = error.split('\n', 1)[0]!.slice(0, SHOWN_CHARACTERS)
  const pattern = `${line.replace(variable, '*')}${line.length < error.length ? '*' : ''}`
  return pattern.replace(/\*+/g, '*')
}

/**
 * For the query of a list and the filter of an action. A caller without `detail` gets all dead letters of the source.
 */
export function filterOfGroup(group: ErrorGroup, detail: boolean): Record<string, string> {
  const { source, pattern, error, texts } = group
  const base = { source, dead: 'true' }
  if (!detail || error === null || error === '') return base
  return texts === 1 && error.length <= SHOWN_CHARACTERS
    ? { ...base, reason: error }
    : { ...base, reasonLike: pattern }
}

/** `detail`: with the errors. */
export function groupView(group: ErrorGroup, detail: boolean) {
  const { source, error, types, count, firstAt, lastAt, eventId } = group
  return {
    source,
    error: detail ? (error ?? '').split('\n', 1)[0]!.slice(0, SHOWN_CHARACTERS) : null,
    types,
    count,
    firstAt,
    lastAt,
    sample: { source, id: eventId },
    filter: filterOfGroup(group, detail),
  }
}
