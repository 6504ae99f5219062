/** The questions of single screens. They are asked again while the screen is shown. */
import { queryOptions } from '@tanstack/react-query'
import type { Window } from '../app/search'
import { api, type Body, take } from './client'

const EVERY_MS = 10_000

export type Overview = Body<'getOverview'>
export type Attention = Body<'getAttention'>['items'][number]

export const overviewQuery = (window: Window) =>
  queryOptions({
    queryKey: ['overview', window],
    queryFn: ({ signal }) => take(api.GET('/api/overview', { params: { query: { window } }, signal })),
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
  })

export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => take(api.GET('/api/attention', { signal })),
  refetchInterval: EVERY_MS,
})

export const deadLettersQuery = queryOptions({
  queryKey: ['dead-letters'],
  queryFn: ({ signal }) => take(api.GET('/api/dead-letters', { signal })),
  refetchInterval: EVERY_MS,
})

export const reviewQuery = queryOptions({
  queryKey: ['review'],
  queryFn: ({ signal }) => take(api.GET('/api/review', { signal })),
  refetchInterval: EVERY_MS,
})

export const facetsQuery = queryOptions({
  queryKey: ['facets'],
  queryFn: ({ signal }) => take(api.GET('/api/facets', { signal })),
  staleTime: 60_000,
})

export const sourceQuery = (source: string) =>
  queryOptions({
    queryKey: ['source', source],
    queryFn: ({ signal }) => take(api.GET('/api/sources/{source}', { params: { path: { source } }, signal })),
    refetchInterval: EVERY_MS,
  })

export const handlersQuery = queryOptions({
  queryKey: ['handlers'],
  queryFn: ({ signal }) => take(api.GET('/api/handlers', { signal })),
  refetchInterval: 5_000,
})

export const destinationsQuery = queryOptions({
  queryKey: ['destinations'],
  queryFn: ({ signal }) => take(api.GET('/api/destinations', { signal })),
  refetchInterval: 5_000,
})

export const workersQuery = queryOptions({
  queryKey: ['workers'],
  queryFn: ({ signal }) => take(api.GET('/api/workers', { signal })),
  refetchInterval: 5_000,
})

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: ({ signal }) => take(api.GET('/api/system', { signal })),
  refetchInterval: EVERY_MS,
})

export const auditsQuery = queryOptions({
  queryKey: ['audits'],
  queryFn: ({ signal }) => take(api.GET('/api/audits', { params: { query: { limit: 50 } }, signal })),
  refetchInterval: EVERY_MS,
})
