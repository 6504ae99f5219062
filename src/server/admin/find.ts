/**
 * Finds an event by whatever was pasted: its id, a reference of it, `customer:cus_123`, a URL or a text that contains one of them, or the
 * beginning of an id. Each try is a look-up in an index.
 */
import type { WholeInbox } from '../../inbox/internals.js'
import { type EventFilter, type EventRecord, limits } from '../../model.js'
import { labelProblem } from '../../references.js'
import { inspectOf } from './capabilities.js'

export interface Match {
  readonly event: EventRecord
  readonly by: 'id' | 'id_prefix' | 'reference'
}

const CANDIDATES = 16
const MATCHES = 20
const SHORTEST_PREFIX = 4

export async function find(inbox: WholeInbox, pasted: string): Promise<Match[]> {
  const candidates = candidatesOf(pasted)
  const matches: Match[] = []
  const add = (by: Match['by'], events: readonly EventRecord[]) => {
    for (const event of events)
      if (matches.length < MATCHES && !matches.some((match) => match.event.seq === event.seq))
        matches.push({ event, by })
  }
  for (const text of candidates) {
    add('id', (await inbox.events.list({ id: text }, { limit: 10 })).events)
    for (const filter of [{ reference: text }, ...labelled(text)])
      add('reference', (await inbox.events.list(filter, { limit: 10 })).events)
    if (matches.length >= MATCHES) break
  }
  if (matches.length > 0) return matches
  const inspect = await inspectOf(inbox)
  for (const text of candidates) {
    const prefix = text.replace(/(…|\.{3})$/, '')
    if (prefix.length < SHORTEST_PREFIX) continue
    const events = await Promise.all((await inspect.idsFrom(prefix, 10)).map((key) => inbox.events.get(key)))
    add(
      'id_prefix',
      events.filter((event) => event !== null),
    )
  }
  return matches
}

/** `customer:cus_123` */
function labelled(text: string): EventFilter[] {
  const [, label, reference] = /^([^:]+):(.+)$/.exec(text) ?? []
  return label === undefined || labelProblem(label) !== null ? [] : [{ label, reference: reference! }]
}

/** The most likely id or reference first. */
export function candidatesOf(pasted: string): string[] {
  const text = pasted.trim()
  const url = urlOf(text)
  const parts = url === null ? wordsOf(text) : partsOf(url)
  const all = [text, ...parts.flatMap((part) => [part, decoded(part)])]
  return [...new Set(all)].filter(isPossible).slice(0, CANDIDATES)
}

function urlOf(text: string): URL | null {
  try {
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? new URL(text) : null
  } catch {
    return null
  }
}

/** The end of a path names the object. The values of the query and the fragment come next. */
function partsOf({ pathname, searchParams, hash }: URL): string[] {
  const path = pathname.split('/').filter((part) => part !== '')
  const fragment = hash.slice(1).split(/[/?&=]/)
  return [...path.reverse(), ...searchParams.values(), ...fragment.reverse()].filter((part) => part !== '')
}

/** Words with a digit first: they look like ids. */
function wordsOf(text: string): string[] {
  const words = text.split(/[\s"'`<>,;(){}[\]|]+/).flatMap((word) => {
    const url = urlOf(word)
    return url === null ? [word.replace(/[.:!?]+$/, '')] : partsOf(url)
  })
  const long = words.filter((word) => word.length >= SHORTEST_PREFIX)
  return [...long.filter((word) => /\d/.test(word)), ...long.filter((word) => !/\d/.test(word))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isPossible(text: string): boolean {
  const bytes = Buffer.byteLength(text)
  return bytes > 0 && bytes <= limits.eventIdBytes && text.isWellFormed() && !CONTROL.test(text)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: an id has none
const CONTROL = /[\u0000-\u001f\u007f]/
