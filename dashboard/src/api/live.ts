/**
 * The live connection: one stream for the whole page. Components subscribe to new events; the state of the connection is
 * shown in the shell. The browser connects again by itself, and continues at its position.
 */
import { useEffect, useRef } from 'react'
import { base } from '../app/base'
import { createStore } from '../app/store'
import type { EventView, Stats } from './client'
import { queryClient, refreshAll } from './query-client'
import { sessionQuery } from './session'

type Connection = 'connecting' | 'live' | 'lost' | 'restored'
type Listener = (event: EventView | null) => void

/** The stream was broken for good, for example by a proxy's error page: connect again after this time. */
const RECONNECT_MS = 2_000
const RESTORED_MS = 6_000

const connection = createStore<Connection>('connecting')
let source: EventSource | null = null
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<Listener>()

export const useConnection = connection.use

function onOpen(): void {
  clearTimeout(timer)
  if (connection.get() !== 'lost') {
    connection.set('live')
    return
  }
  // What was missed is read again, on whatever screen this is.
  refreshAll()
  connection.set('restored')
  timer = setTimeout(() => connection.set('live'), RESTORED_MS)
}

function onError(): void {
  connection.set('lost')
  void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  if (source?.readyState !== EventSource.CLOSED) return
  clearTimeout(timer)
  timer = setTimeout(open, RECONNECT_MS)
}

function open(): void {
  source?.close()
  source = new EventSource(`${base}/api/stream`)
  source.addEventListener('open', onOpen)
  source.addEventListener('error', onError)
  source.addEventListener('recorded', (message) => {
    const event = JSON.parse(message.data) as EventView
    for (const listener of listeners) listener(event)
  })
  source.addEventListener('stats', (message) => {
    const { sources } = JSON.parse(message.data) as Pick<Stats, 'sources'>
    queryClient.setQueryData<Stats>(['stats'], (before) => ({ spool: before?.spool ?? null, sources }))
    for (const listener of listeners) listener(null)
  })
  source.addEventListener('gap', refreshAll)
}

/** Connects while the shell is shown, that is, while somebody is signed in. */
export function useLiveConnection(): void {
  useEffect(() => {
    connection.set('connecting')
    open()
    return () => {
      clearTimeout(timer)
      source?.close()
      source = null
    }
  }, [])
}

/** Calls `listener` with each new event, and with null when counts have changed. */
export function useLive(listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const call: Listener = (event) => latest.current(event)
    listeners.add(call)
    return () => void listeners.delete(call)
  }, [])
}

/** Calls `act` soon after something has changed, at most once in `everyMs`. */
export function useLiveRefresh(act: () => void, everyMs: number, on = true): void {
  const due = useRef<ReturnType<typeof setTimeout> | null>(null)
  const latest = useRef(act)
  latest.current = act
  useLive(() => {
    if (!on || due.current !== null) return
    due.current = setTimeout(() => {
      due.current = null
      if (!document.hidden) latest.current()
    }, everyMs)
  })
  useEffect(
    () => () => {
      if (due.current !== null) clearTimeout(due.current)
      due.current = null
    },
    [],
  )
}
