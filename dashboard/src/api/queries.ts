/** The questions that more than one screen asks. */
import { queryOptions } from '@tanstack/react-query'
import { api, type Body, type EventKey, take } from './client'

export const statsQuery = queryOptions({
  queryKey: ['stats'],
  queryFn: ({ signal }) => take(api.GET('/api/stats', { signal })),
})

export const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  queryFn: ({ signal }) => take(api.GET('/api/sources', { signal })),
  staleTime: 30_000,
})

const at = ({ source, id }: EventKey) => ({ params: { path: { source, id } } })

export const eventQuery = (key: EventKey) =>
  queryOptions({
    queryKey: ['event', key.source, key.id],
    queryFn: ({ signal }) => take(api.GET('/api/events/{source}/{id}', { ...at(key), signal })),
  })

export const attemptsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: ['event', key.source, key.id, 'attempts'],
    queryFn: ({ signal }) => take(api.GET('/api/events/{source}/{id}/attempts', { ...at(key), signal })),
  })

export const eventAuditsQuery = (key: EventKey) =>
  queryOptions({
    queryKey: ['event', key.source, key.id, 'audits'],
    queryFn: ({ signal }) =>
      take(
        api.GET('/api/events/{source}/{id}/audits', {
          params: { path: { source: key.source, id: key.id }, query: { limit: 100 } },
          signal,
        }),
      ),
  })

/** Every answer is written to the audit, so it is asked for once, when somebody wants to see it. */
export const payloadQuery = (key: EventKey) =>
  queryOptions({
    queryKey: ['payload', key.source, key.id],
    queryFn: async ({ signal }): Promise<Payload> => {
      const answer = await take(
        api.GET('/api/events/{source}/{id}/payload', {
          params: { path: { source: key.source, id: key.id }, query: { note: 'dashboard' } },
          signal,
        }),
      )
      return answer as Payload
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
export type Payload = Body<'getPayload'>

/** Whatever was pasted, taken apart by the server. A single exact match opens at once. */
export async function findEvents(q: string): Promise<readonly EventKey[]> {
  const { matches } = await take(api.GET('/api/find', { params: { query: { q } } }))
  const exact = matches.filter(({ by }) => by === 'id')
  return (exact.length > 0 ? exact : matches).map(({ event }) => event)
}
