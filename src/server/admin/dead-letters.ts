/**
 * Dead letters by error. Errors that differ only in numbers, ids and quoted texts are one group; its pattern selects
 * exactly these events again, in the list and in an action.
 */
import type { WholeInbox } from '../../inbox/internals.js'
import type { DeadLetterGroup } from '../../store.js'
import { inspectOf } from './capabilities.js'

export interface ErrorGroup {
  readonly source: string
  readonly pattern: string
  /** The newest error; null when it was empty. */
  readonly error: string | null
  readonly types: readonly string[]
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly eventId: string
  /** How many different texts the group has. */
  readonly texts: number
}

/** Dead letters that one call reads at most: about 50 ms on either store. */
const SCAN = 20_000
const SHOWN_CHARACTERS = 300
const TYPES = 20

export async function errorGroups(
  inbox: WholeInbox,
  source?: string,
): Promise<{ groups: ErrorGroup[]; scanned: number; cut: boolean }> {
  const inspect = await inspectOf(inbox)
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

/** Quoted texts, UUIDs, words with a digit, and numbers. */
const variable =
  /"[^"\n]{1,200}"|'[^'\n]{1,200}'|[0-9a-f]{8}-[0-9a-f-]{27}|\b(?=[\w-]*\d)[\w-]{6,}\b|\d+(?:[.,:]\d+)*/gi

/** The first line, in which what varies is a star. The rest of the text is a star too. */
export function patternOf(error: string): string {
  const line = error.split('\n', 1)[0]!.slice(0, SHOWN_CHARACTERS)
  const pattern = `${line.replace(variable, '*')}${line.length < error.length ? '*' : ''}`
  return pattern.replace(/\*+/g, '*')
}

/** The filter of a group, as the query of a list and the filter of an action. Without `detail`: all of the source. */
export function filterOfGroup(group: ErrorGroup, detail: boolean): Record<string, string> {
  const { source, pattern, error, texts } = group
  const base = { source, dead: 'true' }
  if (!detail || error === null || error === '') return base
  return texts === 1 && error.length <= SHOWN_CHARACTERS
    ? { ...base, reason: error }
    : { ...base, reasonLike: pattern }
}

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
