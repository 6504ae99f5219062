/**
 * One client of node-postgres. A connection can stop answering without an error (a failover without a reset, a dropped
 * NAT entry), so every wait here has a time limit.
 */
import type { ClientBase, ClientConfig, PoolConfig } from 'pg'
import pg from 'pg'
import { type TimeLimits, timeLimits } from '../../../clock.js'
import { timedOut } from './failure.js'

/** Without this delay the operating system sends the first TCP keepalive after two hours. */
const KEEP_ALIVE_DELAY_MS = 10_000
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS }

/** Time limit for a cancel request and for the end of a connection. */
const END_MS = 1_000

/** Undocumented fields of a client. A compatible driver may lack them. */
interface ClientInternals {
  readonly connection?: {
    readonly stream?: {
      destroy?(): void
      setKeepAlive?(on: boolean, delayMs: number): void
      cork?(): void
      uncork?(): void
    }
  }
  readonly pipeline?: boolean
  readonly readyForQuery?: boolean
  getTransactionStatus?(): string | null
  readonly processID?: number | null
  readonly secretKey?: number | null
  readonly host?: string
  readonly port?: number
  readonly ssl?: unknown
  readonly sslNegotiation?: string
}

/** A client whose `end` has a time limit. */
export class PromptClient extends pg.Client {
  constructor(config?: ClientConfig) {
    super(config)
    // The driver takes the password of the URL even when the URL has none.
    if (config?.password && (typeof config.password === 'function' || !this.password))
      Object.assign(this, { password: config.password })
  }

  // biome-ignore lint/suspicious/noExplicitAny: two overloads, with and without a callback
  override end(...args: any[]): any {
    const timer = setTimeout(() => destroy(this), END_MS)
    this.once('end', () => clearTimeout(timer))
    return super.end(...(args as []))
  }
}

/** A connection outside every pool, not connected yet. */
export function newClient(config: ClientConfig): pg.Client {
  const { Client = PromptClient } = config as PoolConfig & { Client?: typeof PromptClient }
  return survive(new Client(config))
}

const surviving = new WeakSet<ClientBase>()

/**
 * Adds a listener for `error`. A broken connection fails its statement and also emits this event, which ends the process
 * when there is no listener. The event can come after the connection was returned, so the listener is never removed.
 */
export function survive<C extends ClientBase>(client: C): C {
  if (!surviving.has(client)) {
    surviving.add(client)
    client.on('error', () => {})
    // A connection of the application's pool may have been made without keepalive.
    ;(client as ClientInternals).connection?.stream?.setKeepAlive?.(true, KEEP_ALIVE_DELAY_MS)
  }
  return client
}

type Expire = () => void

/** One timer for all answers with the same limit: a timer for each of them showed in the profile of short transactions. */
const limits = new Map<number, TimeLimits<Expire>>()

function limitOf(limitMs: number): TimeLimits<Expire> {
  let limit = limits.get(limitMs)
  if (!limit) {
    // A busy event loop runs timers before it reads sockets. With setImmediate, an answer that has arrived still counts.
    limit = timeLimits(limitMs, (expire) => void setImmediate(expire))
    limits.set(limitMs, limit)
  }
  return limit
}

/** Fails as a broken connection does when the answer takes longer than the limit. */
export function answerOf<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(timedOut())
    const limit = limitOf(limitMs)
    limit.set(expire)
    answer.then(
      (value) => {
        limit.clear(expire)
        resolve(value)
      },
      (error: unknown) => {
        limit.clear(expire)
        reject(error)
      },
    )
  })
}

/** The client sends a statement before the one before it was answered. */
export function isPipelined(client: ClientBase): boolean {
  return (client as ClientInternals).pipeline === true
}

export function isBusy(client: ClientBase): boolean {
  return (client as ClientInternals).readyForQuery === false
}

/** All statements have been answered, and the server has said that no transaction is open. Older drivers do not tell. */
export function isOutsideTransaction(client: ClientBase): boolean {
  return !isBusy(client) && (client as ClientInternals).getTransactionStatus?.() === 'I'
}

/** Collects commands into one packet until the returned function is called. Has no effect if the driver has no stream. */
export function corked(client: ClientBase): () => void {
  const { stream } = (client as ClientInternals).connection ?? {}
  if (!stream?.cork || !stream.uncork) return () => {}
  stream.cork()
  return () => stream.uncork!()
}

/** Closes the socket at once; running statements fail. */
export function destroy(client: ClientBase): void {
  ;(client as ClientInternals).connection?.stream?.destroy?.()
}

/** Sends a cancel request for the running statement on a new connection. Never fails; PostgreSQL sends no answer. */
export function cancelStatement(client: ClientBase): Promise<void> {
  const { processID, secretKey, ssl, sslNegotiation }: ClientInternals = client
  const { host = 'localhost', port = 5432 }: ClientInternals = client
  if (!processID || !secretKey) return Promise.resolve()
  return new Promise((resolve) => {
    const wire = new pg.Connection({ ssl, sslNegotiation } as object) as pg.Connection & {
      connect(portOrPath: number | string, host?: string): void
      requestSsl(): void
      cancel(processID: number, secretKey: number): void
    }
    const over = () => {
      clearTimeout(timer)
      wire.stream.destroy()
      resolve()
    }
    const timer = setTimeout(over, END_MS)
    const send = () => wire.cancel(processID, secretKey)
    wire.on('error', over)
    wire.on('end', over) // the server closes the connection after it has read the request
    wire.on('connect', () => {
      if (!ssl) send()
      else if (sslNegotiation !== 'direct') wire.requestSsl()
    })
    wire.on('sslconnect', send)
    if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`)
    else wire.connect(port, host)
  })
}
