/**
 * Notifies other processes of new events with LISTEN and NOTIFY. NOTIFY takes a lock on the whole database at commit, so
 * it is sent at most once in 20 ms, after the commit and in its own statement. Polling finds the events of a lost one.
 * A connection that only listens does not notice that its server is gone, so it sends a query from time to time.
 */
import type { Client } from 'pg'
import { HookonceError } from '../../errors.js'
import { answerOf, destroy } from './connection.js'
import type { Database } from './database.js'
import { isOwnSession } from './sessions.js'

const NOTIFY_EVERY_MS = 20
const RECONNECT_MS = 1_000
/** The interval of that query, as a multiple of the time limit of a statement: 30 s by default. */
const CHECK_TIMES = 3

export interface Notifications {
  notify(): void
  subscribe(wake: () => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export function createNotifications(db: Database): Notifications {
  const channel = `hookonce_${db.schema}`
  const listeners = new Set<() => void>()
  let notifying: NodeJS.Timeout | undefined
  let client: Client | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let checking: NodeJS.Timeout | undefined
  let closed = false

  function notify(): void {
    if (notifying || closed) return
    notifying = setTimeout(() => {
      notifying = undefined
      // Polling is the fallback when the notification fails.
      if (!closed)
        db.query({ name: 'notify', sql: 'select pg_notify($1, $2)' }, [channel, '']).catch(() => {})
    }, NOTIFY_EVERY_MS)
    notifying.unref()
  }

  async function listen(): Promise<void> {
    const next = db.client()
    client = next
    next.on('notification', () => {
      for (const wake of listeners) wake()
    })
    next.on('error', () => reconnectAfter(next))
    next.on('end', () => reconnectAfter(next))
    await next.connect()
    if (!db.hasDirectUrl && !(await isOwnSession(next, db.timeoutMs))) {
      // Behind a pooler, LISTEN would reach a session that others use. Polling finds the events.
      await stopListening()
      return
    }
    await answerOf(next.query(`listen "${channel}"`), db.timeoutMs)
    checking = setInterval(() => {
      answerOf(next.query('select 1'), db.timeoutMs).catch(() => reconnectAfter(next))
    }, CHECK_TIMES * db.timeoutMs)
    checking.unref()
  }

  function reconnectAfter(lost: Client): void {
    if (closed || client !== lost) return
    client = undefined
    clearInterval(checking)
    destroy(lost)
    reconnecting = setTimeout(() => {
      if (listeners.size > 0) listen().catch(() => reconnectAfter(client ?? lost))
    }, RECONNECT_MS)
    reconnecting.unref()
  }

  async function subscribe(wake: () => void): Promise<() => Promise<void>> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    listeners.add(wake)
    if (!client) {
      await listen().catch(() => {
        if (client) reconnectAfter(client)
      })
    }
    return async () => {
      listeners.delete(wake)
      if (listeners.size === 0) await stopListening()
    }
  }

  async function stopListening(): Promise<void> {
    clearTimeout(reconnecting)
    clearInterval(checking)
    const last = client
    client = undefined
    await last?.end().catch(() => {})
  }

  return {
    notify,
    subscribe,
    async close() {
      closed = true
      clearTimeout(notifying)
      listeners.clear()
      await stopListening()
    },
  }
}
