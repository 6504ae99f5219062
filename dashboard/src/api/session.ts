/** Who is signed in, and what they may do. Actions that the server would refuse are not shown. */
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { takeLinkToken } from '../app/base'
import { ApiError, api, type Session, take } from './client'
import { queryClient } from './query-client'

const signIn = (token: string) => take(api.POST('/api/sessions', { body: { token } })) as Promise<Session>

async function unlessRefused(session: Promise<Session>): Promise<Session | null> {
  try {
    return await session
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    const token = takeLinkToken()
    const signedIn = token === null ? null : await unlessRefused(signIn(token))
    return signedIn ?? unlessRefused(take(api.GET('/api/session', { signal })))
  },
  staleTime: 60_000,
})

interface May {
  /** Errors, reasons and the audit. */
  readonly detail: boolean
  /** Retry, replay, ignore, pause. */
  readonly act: boolean
  readonly payload: boolean
  /** A new event with an edited body. */
  readonly edit: boolean
}

export function useMay(): May {
  const session = useQuery(sessionQuery).data
  const granted = session?.permissions ?? []
  return {
    detail: granted.includes('detail'),
    act: granted.includes('act'),
    payload: granted.includes('payload'),
    edit: granted.includes('payload'),
  }
}

/** Nothing that the last person saw stays in memory. */
function startAs(session: Session | null): void {
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' })
  queryClient.setQueryData(sessionQuery.queryKey, session)
}

export function useSignIn() {
  return useMutation({ mutationFn: signIn, onSuccess: startAs })
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => take(api.DELETE('/api/sessions', { parseAs: 'text' })),
    onSuccess: () => startAs(null),
  })
}
