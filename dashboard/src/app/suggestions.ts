/** What a typed text may mean. Each suggestion is a place in the dashboard. */
import { linkOptions, type NavigateOptions } from '@tanstack/react-router'
import type { Body } from '../api/client'
import type { IconName } from '../ui/icon'

export interface Suggestion {
  readonly key: string
  readonly icon: IconName
  readonly text: string
  readonly about: string
  readonly to: NavigateOptions
}

type Found = Body<'findEvents'>['matches']
type Facets = Body<'getFacets'>['sources']

/** A shorter text is the beginning of too much. */
export const SHORTEST = 3
const EVENTS = 6
const NAMES = 4

export function suggestionsFor(
  text: string,
  matches: Found,
  sources: Facets,
  mayReadPayloads: boolean,
): Suggestion[] {
  const has = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  const references = new Set(
    matches.flatMap(({ by, event }) => (by === 'reference' && event.reference ? [event.reference] : [])),
  )
  const types = [...new Set(sources.flatMap((one) => one.types))].filter(has)
  return [
    ...[...references].slice(0, NAMES).map(
      (reference): Suggestion => ({
        key: `reference ${reference}`,
        icon: 'events',
        text: reference,
        about: 'All events with this reference',
        to: linkOptions({ to: '/events', search: { reference } }),
      }),
    ),
    ...matches.slice(0, EVENTS).map(
      ({ event: { source, id, type, state, dead } }): Suggestion => ({
        key: `event ${source} ${id}`,
        icon: 'review',
        text: id,
        about: `${type} · ${source} · ${dead ? 'dead letter' : state}`,
        to: linkOptions({ to: '/events/$source/$id', params: { source, id } }),
      }),
    ),
    ...types.slice(0, NAMES).map(
      (type): Suggestion => ({
        key: `type ${type}`,
        icon: 'handlers',
        text: type,
        about: 'All events of this type',
        to: linkOptions({ to: '/events', search: { type } }),
      }),
    ),
    ...sources
      .filter(({ source }) => has(source))
      .slice(0, NAMES)
      .map(
        ({ source }): Suggestion => ({
          key: `source ${source}`,
          icon: 'sources',
          text: source,
          about: 'All events of this source',
          to: linkOptions({ to: '/events', search: { source } }),
        }),
      ),
    ...(mayReadPayloads
      ? [
          {
            key: 'payloads',
            icon: 'search',
            text,
            about: 'Search payloads for this',
            to: linkOptions({ to: '/events', search: { path: '**', op: 'contains', value: text } }),
          } as const,
        ]
      : []),
  ]
}
