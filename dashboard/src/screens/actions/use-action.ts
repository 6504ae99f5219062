/** An action on many events: started, followed while it runs, and cancelled. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Action, type ActionFilter, api, type EventKey, take } from '../../api/client'

export type Verb = Action['verb']

export interface Target {
  readonly filter?: ActionFilter
  readonly events?: EventKey[]
  readonly text: string
}

export interface NewAction {
  readonly verb: Verb
  readonly target: Target
  readonly dryRun: boolean
  readonly force: boolean
  readonly note: string
}

function startAction({ target: { filter, events }, ...request }: NewAction): Promise<Action> {
  return take(
    api.POST('/api/events/actions', { body: { ...request, ...(filter ? { filter } : { events }) } }),
  )
}

export function useAction(request: NewAction | null): {
  readonly action: Action | null
  readonly error: Error | null
  cancel(): Promise<void>
} {
  const [started, setStarted] = useState<Action | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const current = useRef<NewAction | null>(null)
  useEffect(() => {
    if (request === current.current) return
    current.current = request
    setStarted(null)
    setError(null)
    if (request === null) return
    startAction(request).then(
      (action) => (current.current === request ? setStarted(action) : undefined),
      (cause: Error) => (current.current === request ? setError(cause) : undefined),
    )
  }, [request])
  const running = started?.state === 'running'
  const followed = useQuery({
    queryKey: ['action', started?.id],
    queryFn: ({ signal }) =>
      take(api.GET('/api/actions/{id}', { params: { path: { id: started!.id } }, signal })),
    enabled: running,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : 400),
  })
  const action = running ? (followed.data ?? started) : started
  return {
    action,
    error: error ?? (running ? followed.error : null),
    async cancel() {
      if (action?.state !== 'running') return
      const stopped = await take(api.DELETE('/api/actions/{id}', { params: { path: { id: action.id } } }))
      setStarted(stopped)
    },
  }
}
