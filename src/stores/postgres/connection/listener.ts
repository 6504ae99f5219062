/**
 * Notifies other processes of new events. NOTIFY takes a lock on the whole database at commit, so it is sent at most once
 * in 20 ms, in its own statement after the commit. When one is lost, polling finds the events. A connection that only
 * listens does not notice that its server is gone, so it sends a query from time to time.
 */
import type { Client } from 'pg'
import { HookonceError } from '../../../errors.js'
import type { News } from '../../../store.js'
import { answerOf, destroy } from './client.js'
import type { Database } from './database.js'
import { isOwnSession } from './sessions.js'
import { statement } from './statement.js'

const NOTIFY_EVERY_MS = 20
const RECONNECT_MS = 1_000
const OF_PAUSES = 'pauses'
/** A multiple of the time limit of a statement: every 30 s by default. */
const CHECK_TIMES = 3

const notifyChannel = statement('notify')`select pg_notify($1, $2)`

export class Listener {
  readonly #db: Database
  readonly #channel: string
  readonly #wakes = new Set<(news: News) => void>()
  #client: Client | undefined
  #notifying: NodeJS.Timeout | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #checking: NodeJS.Timeout | undefined
  #closed = false

  constructor(db: Database) {
    this.#db = db
    this.#channel = `hookonce_${db.schema}`
  }

  notify(): void {
    if (this.#notifying || this.#closed) return
    this.#notifying = setTimeout(() => {
      this.#notifying = undefined
      if (!this.#closed) this.#db.query(notifyChannel, [this.#channel, '']).catch(() => {})
    }, NOTIFY_EVERY_MS).unref()
  }

  /** At once, because an operator waits for the effect. `hasChanged` is returned. */
  tellOfPause(hasChanged: boolean): boolean {
    if (hasChanged && !this.#closed) this.#db.query(notifyChannel, [this.#channel, OF_PAUSES]).catch(() => {})
    return hasChanged
  }

  async subscribe(wake: (news: News) => void): Promise<() => Promise<void>> {
    if (this.#closed) throw new HookonceError('STORE_CLOSED')
    this.#wakes.add(wake)
    if (!this.#client) await this.#listen().catch(() => this.#reconnect(this.#client))
    return async () => {
      this.#wakes.delete(wake)
      if (this.#wakes.size === 0) await this.#stop()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#notifying)
    this.#wakes.clear()
    await this.#stop()
  }

  async #listen(): Promise<void> {
    const { timeoutMs, hasDirectUrl } = this.#db
    const client = this.#db.client()
    this.#client = client
    client.on('notification', ({ payload }) => {
      for (const wake of this.#wakes) wake(payload === OF_PAUSES ? 'pauses' : 'events')
    })
    client.on('error', () => this.#reconnect(client))
    client.on('end', () => this.#reconnect(client))
    await client.connect()
    // Behind a pooler, LISTEN would reach a session that others use. Polling finds the events.
    if (!hasDirectUrl && !(await isOwnSession(client, timeoutMs))) return this.#stop()
    await answerOf(client.query(`listen "${this.#channel}"`), timeoutMs)
    this.#checking = setInterval(() => {
      answerOf(client.query('select 1'), timeoutMs).catch(() => this.#reconnect(client))
    }, CHECK_TIMES * timeoutMs).unref()
  }

  #reconnect(lost: Client | undefined): void {
    if (this.#closed || lost === undefined || this.#client !== lost) return
    this.#client = undefined
    clearInterval(this.#checking)
    destroy(lost)
    this.#reconnecting = setTimeout(() => {
      if (this.#wakes.size > 0) this.#listen().catch(() => this.#reconnect(this.#client))
    }, RECONNECT_MS).unref()
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#reconnecting)
    clearInterval(this.#checking)
    const last = this.#client
    this.#client = undefined
    await last?.end().catch(() => {})
  }
}
