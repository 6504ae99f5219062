/** How answers are kept. A failed request is tried again only when the server did not answer or was not ready. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client'

function onError(error: unknown): void {
  // The session has ended: the shell asks again who is there, and shows the sign-in. Questions that were asked before the
  // first answer about the session change nothing.
  if (error instanceof ApiError && error.status === 401 && queryClient.getQueryData(['session']))
    void queryClient.invalidateQueries({ queryKey: ['session'] })
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (query.queryKey[0] !== 'session') onError(error)
    },
  }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The live connection and the user ask for fresh answers; a change of the window does not.
      refetchOnWindowFocus: false,
      retry: (count, error) =>
        count < 3 && (!(error instanceof ApiError) || error.status === 0 || error.status === 503),
      retryDelay: (count) => Math.min(4_000, 500 * 2 ** count),
      // Requests to a server on this machine work without a network.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

/** Asks again for everything that is shown, except payloads: they do not change, and each answer is audited. */
export function refreshAll(): void {
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'payload' })
}
