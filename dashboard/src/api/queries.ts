/** The questions that more than one screen asks. */
import { queryOptions } from '@tanstack/react-query'
import { api, type Body, type EventKey, type EventView, take } from './client'

export const statsQuery = queryOptions({
  queryKey: ['stats'],
  queryFn: ({ signal }) => take(api.GET('/api/stats', { signal })),
})

export const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  queryFn: ({ signal }) => take(api.GET('/api/sources', { signal })),
  staleTime: 30_000,
})

const keyOf = ({ source, id }: EventKey) => ['event', source, id] as const
const pathOf = ({ source, id }: EventKey) => ({ path: { source, id } })

export const eventQuery = (key: EventKey) =>
  queryOptions({
    queryKey: keyOf(key),
    queryFn: ({ signal }) => take(api.GET('/api/events/{source}/{id}', { params: pathOf(key), signal })),
  })

export const attemptsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: [...keyOf(key), 'attempts'],
    queryFn: ({ signal }) =>
      take(api.GET('/api/events/{source}/{id}/attempts', { params: pathOf(key), signal })),
  })

export const effectsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: [...keyOf(key), 'effects'],
    queryFn: ({ signal }) =>
      take(api.GET('/api/events/{source}/{id}/effects', { params: pathOf(key), signal })),
  })

export const eventAuditsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: [...keyOf(key), 'audits'],
    queryFn: ({ signal }) => {
      const params = { query: { source: key.source, id: key.id, limit: 100 } }
      return take(api.GET('/api/audits', { params, signal }))
    },
  })

/** The events with this id: those of the consumers of its source, and perhaps others. */
export const siblingsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: [...keyOf(key), 'siblings'],
    queryFn: ({ signal }) =>
      take(api.GET('/api/events', { params: { query: { id: key.id, limit: 100 } }, signal })),
  })

/** Every answer is written to the audit, so each content is asked for once, when somebody wants to see it. */
export const payloadQuery = (event: EventView, what: 'payload' | 'conflict' = 'payload') =>
  queryOptions({
    queryKey: [
      ...['payload', event.source, event.id, what, event.contentHash, event.lastConflict?.hash],
      // The reply of the handler is a part of the answer, and each run may give another.
      what === 'payload' ? event.processedAt : null,
    ],
    queryFn: async ({ signal }) => {
      const params = { ...pathOf(event), query: { note: 'dashboard' } }
      return (await take(api.GET(`/api/events/{source}/{id}/${what}`, { params, signal }))) as Payload
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
export type Payload = Omit<Body<'getPayload'>, 'reply'> &
  Partial<Pick<Body<'getPayload'>, 'reply'> & Pick<Body<'getConflict'>, 'hash'>>

/** Whatever was pasted, taken apart by the server. A single exact match opens at once. */
export async function findEvents(q: string): Promise<readonly EventKey[]> {
  const { matches } = await take(api.GET('/api/find', { params: { query: { q } } }))
  const exact = matches.filter(({ by }) => by === 'id')
  return (exact.length > 0 ? exact : matches).map(({ event }) => event)
}
