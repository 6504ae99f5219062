/**
 * A connection can stop answering without an error (a failover without a reset, a dropped NAT entry), so every wait here
 * has a time limit.
 */
import type { ClientBase, ClientConfig, PoolConfig } from 'pg'
import pg from 'pg'
import { type TimeLimits, timeLimits } from '../../../clock.js'
import { timedOut } from './failure.js'

/** By default the operating system sends the first TCP keepalive after two hours. */
const KEEP_ALIVE_DELAY_MS = 10_000
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS }

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

export function newClient(config: ClientConfig): pg.Client {
  const { Client = PromptClient } = config as PoolConfig & { Client?: typeof PromptClient }
  return survive(new Client(config))
}

const surviving = new WeakSet<ClientBase>()

/**
 * A broken connection also emits `error`, which ends the process when nobody listens. The event can come after the
 * connection was returned, so the listener is never removed.
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

/** All answers with one limit share a timer: a timer for each of them showed in the profile of short transactions. */
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

/** Fails when the answer takes longer than the limit, as a broken connection does. */
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

/** The client sends statements without waiting for the answers to earlier ones. */
export function isPipelined(client: ClientBase): boolean {
  return (client as ClientInternals).pipeline === true
}

export function isBusy(client: ClientBase): boolean {
  return (client as ClientInternals).readyForQuery === false
}

/** The server has said that no transaction is open. Older drivers do not tell. */
export function isOutsideTransaction(client: ClientBase): boolean {
  return !isBusy(client) && (client as ClientInternals).getTransactionStatus?.() === 'I'
}

/** Collects commands into one packet until the returned function is called. */
export function corked(client: ClientBase): () => void {
  const { stream } = (client as ClientInternals).connection ?? {}
  if (!stream?.cork || !stream.uncork) return () => {}
  stream.cork()
  return () => stream.uncork!()
}

export function destroy(client: ClientBase): void {
  ;(client as ClientInternals).connection?.stream?.destroy?.()
}

/** Uses a new connection. Never fails; PostgreSQL sends no answer. */
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
