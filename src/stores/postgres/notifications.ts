/**
 * Wake-ups between processes by LISTEN and NOTIFY. NOTIFY takes a lock of the whole database at commit, so it is never
 * sent per event: at most once in 20 ms, after the commit, in a statement of its own. A lost one costs a poll.
 * A connection that only listens would never find out that nobody hears it any more, so it is asked now and then.
 */
import type { Client } from 'pg'
import { HookonceError } from '../../errors.js'
import { answerOf, destroy } from './connection.js'
import type { Database } from './database.js'

const NOTIFY_EVERY_MS = 20
const RECONNECT_MS = 1_000
/** In deadlines of a statement: every 30 s by default. */
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
      // The poll finds what a failed wake-up did not.
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
    next.on('error', () => lost(next))
    next.on('end', () => lost(next))
    await next.connect()
    await answerOf(next.query(`listen "${channel}"`), db.timeoutMs)
    checking = setInterval(() => {
      answerOf(next.query('select 1'), db.timeoutMs).catch(() => lost(next))
    }, CHECK_TIMES * db.timeoutMs)
    checking.unref()
  }

  function lost(which: Client): void {
    if (closed || client !== which) return
    client = undefined
    clearInterval(checking)
    destroy(which)
    reconnecting = setTimeout(() => {
      if (listeners.size > 0) listen().catch(() => lost(client ?? which))
    }, RECONNECT_MS)
    reconnecting.unref()
  }

  async function subscribe(wake: () => void): Promise<() => Promise<void>> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    listeners.add(wake)
    if (!client) {
      await listen().catch(() => {
        if (client) lost(client)
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
