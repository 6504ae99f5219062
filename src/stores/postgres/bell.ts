/**
 * Wake-ups between processes by LISTEN and NOTIFY. NOTIFY takes a lock of the whole database at commit, so it is never
 * sent per event: at most once in 20 ms, after the commit, in a statement of its own. A lost one costs a poll.
 */
import type { Client } from 'pg'
import { HookonceError } from '../../errors.js'
import type { Database } from './database.js'

const RING_EVERY_MS = 20
const RECONNECT_MS = 1_000

export interface Bell {
  ring(): void
  subscribe(wake: () => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export function createBell(db: Database): Bell {
  const channel = `hookonce_${db.schema}`
  const listeners = new Set<() => void>()
  let ringing: NodeJS.Timeout | undefined
  let client: Client | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let closed = false

  function ring(): void {
    if (ringing || closed) return
    ringing = setTimeout(() => {
      ringing = undefined
      // The poll finds what a failed wake-up did not.
      if (!closed) db.query({ name: 'ring', sql: 'select pg_notify($1, $2)' }, [channel, '']).catch(() => {})
    }, RING_EVERY_MS)
    ringing.unref()
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
    await next.query(`listen "${channel}"`)
  }

  function lost(which: Client): void {
    if (closed || client !== which) return
    client = undefined
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
      if (listeners.size === 0) await hangUp()
    }
  }

  async function hangUp(): Promise<void> {
    clearTimeout(reconnecting)
    const last = client
    client = undefined
    await last?.end().catch(() => {})
  }

  return {
    ring,
    subscribe,
    async close() {
      closed = true
      clearTimeout(ringing)
      listeners.clear()
      await hangUp()
    },
  }
}
