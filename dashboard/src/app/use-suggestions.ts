import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, take } from '../api/client'
import { facetsQuery } from '../api/screen-queries'
import { useMay } from '../api/session'
import { SHORTEST, type Suggestion, suggestionsFor } from './suggestions'
import { useLater } from './use-later'

const PAUSE_MS = 150

/** Asks when the person pauses. */
export function useSuggestions(typed: string): readonly Suggestion[] {
  const may = useMay()
  const text = useLater(typed, PAUSE_MS)
  const asks = text.length >= SHORTEST
  const { data } = useQuery({
    queryKey: ['find', text],
    queryFn: ({ signal }) => take(api.GET('/api/find', { params: { query: { q: text } }, signal })),
    enabled: asks,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const { data: facets } = useQuery({ ...facetsQuery, enabled: asks })
  if (!asks || typed.length < SHORTEST) return []
  return suggestionsFor(typed, data?.matches ?? [], facets?.sources ?? [], may.payload)
}
