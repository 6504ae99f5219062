/** The questions of single screens. They are asked again while the screen is shown. */
import { queryOptions } from '@tanstack/react-query'
import type { Window } from '../app/search'
import { type Answer, api, type Body, take } from './client'
import type { operations } from './schema'

const EVERY_MS = 10_000
/** For screens on which somebody waits for the effect of a pause. */
const OFTEN_MS = 5_000

export type Overview = Body<'getOverview'>
export type Attention = Body<'getAttention'>['items'][number]

type Ask<T> = (init: { readonly signal: AbortSignal }) => Promise<Answer<T>>

const repeated = <T>(key: readonly string[], ask: Ask<T>, refetchInterval = EVERY_MS) =>
  queryOptions({ queryKey: key, queryFn: ({ signal }) => take(ask({ signal })), refetchInterval })

export const overviewQuery = (window: Window) => ({
  ...repeated(['overview', window], (init) =>
    api.GET('/api/overview', { params: { query: { window } }, ...init }),
  ),
  placeholderData: (before: Overview | undefined) => before,
})

export const sourceQuery = (source: string) =>
  repeated(['source', source], (init) =>
    api.GET('/api/sources/{source}', { params: { path: { source } }, ...init }),
  )

export const attentionQuery = repeated(['attention'], (init) => api.GET('/api/attention', init))
export const deadLettersQuery = repeated(['dead-letters'], (init) => api.GET('/api/dead-letters', init))
export const reviewQuery = repeated(['review'], (init) => api.GET('/api/review', init))
export const handlersQuery = repeated(['handlers'], (init) => api.GET('/api/handlers', init), OFTEN_MS)
export const pausesQuery = repeated(['pauses'], (init) => api.GET('/api/pauses', init), OFTEN_MS)
export const destinationsQuery = repeated(
  ['destinations'],
  (init) => api.GET('/api/destinations', init),
  OFTEN_MS,
)
export const workersQuery = repeated(['workers'], (init) => api.GET('/api/workers', init), OFTEN_MS)
export const systemQuery = repeated(['system'], (init) => api.GET('/api/system', init))
export const auditsQuery = repeated(['audits'], (init) =>
  api.GET('/api/audits', { params: { query: { limit: 50 } }, ...init }),
)

export type CountConditions = NonNullable<operations['countEvents']['parameters']['query']>

/** Null: the number of all events, which the statistics have. */
export const countQuery = (conditions: CountConditions | null) => ({
  ...repeated(['event-count', JSON.stringify(conditions)], (init) =>
    api.GET('/api/events/count', { params: { query: conditions ?? {} }, ...init }),
  ),
  enabled: conditions !== null,
})

export const facetsQuery = queryOptions({
  queryKey: ['facets'],
  queryFn: ({ signal }) => take(api.GET('/api/facets', { signal })),
  staleTime: 60_000,
})
