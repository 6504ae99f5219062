/**
 * Taking, returning, cancelling and destroying connections of node-postgres. A connection can stop answering without an
 * error (a failover without a reset, a dropped NAT entry), so every wait here has a time limit.
 */
import type { ClientBase, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg'
import pg from 'pg'
import { type TimeLimits, timeLimits } from '../../clock.js'
import { isReadOnlyFailure, isTimedOut, timedOut } from './failure.js'

/** Without this delay the operating system sends the first TCP keepalive after two hours. */
export const KEEP_ALIVE_DELAY_MS = 10_000
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
    // The driver takes the password of the URL, also when the URL has none.
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

/** Whether a statement is running. */
export function isBusy(client: ClientBase): boolean {
  return (client as ClientInternals).readyForQuery === false
}

/** Whether all statements have been answered, and the server has said that no transaction is open. Older drivers do not tell. */
export function isOutsideTransaction(client: ClientBase): boolean {
  return !isBusy(client) && (client as ClientInternals).getTransactionStatus?.() === 'I'
}

/** Closes the socket at once; running statements fail. */
export function destroy(client: ClientBase): void {
  ;(client as ClientInternals).connection?.stream?.destroy?.()
}

/** Collects commands into one packet until the returned function is called. Has no effect if the driver has no stream. */
export function corked(client: ClientBase): () => void {
  const { stream } = (client as ClientInternals).connection ?? {}
  if (!stream?.cork || !stream.uncork) return () => {}
  stream.cork()
  return () => stream.uncork!()
}

/** When a connection was last known to work. */
const heardAt = new WeakMap<ClientBase, number>()
/** Per pool: a connection that was last known to work before this time may be broken like the one that timed out. */
const suspectBefore = new WeakMap<Pool, number>()

/**
 * Takes a connection of the pool; waits at most `waitMs` while all are in use. Connections that may have broken together
 * with one that timed out are destroyed: trying them one after the other would take a time limit each.
 */
export async function take(pool: Pool, waitMs: number): Promise<PoolClient> {
  for (;;) {
    const asked = pool.connect()
    const client = survive(
      await answerOf(asked, waitMs).catch((error) => {
        if (isTimedOut(error)) asked.then((late) => late.release(), ignore)
        throw error
      }),
    )
    if ((heardAt.get(client) ?? performance.now()) >= (suspectBefore.get(pool) ?? 0)) return client
    destroy(client)
    client.release(true)
  }
}

const ACQUIRE_MS = 5_000

/** A little longer than the pool's own limit, so that the pool's error comes first. The application's pool may have none. */
export function acquireMs(pool: Pool): number {
  const own = (pool.options as PoolConfig).connectionTimeoutMillis
  return own ? own + 500 : ACQUIRE_MS
}

/** Whether all connections of the pool are in use. */
export function isFull(pool: Pool): boolean {
  return pool.idleCount === 0 && pool.totalCount >= pool.options.max
}

/** Returns a connection to its pool. After a failure it is destroyed, because its state is unknown. */
export function giveBack(pool: Pool, client: PoolClient, failure: unknown = null, limitMs = 0): void {
  if (failure === null) {
    heardAt.set(client, performance.now())
    client.release()
  } else breakOff(pool, client, failure, limitMs, () => client.release(true))
}

/** Destroys a connection after a failure, and then calls `onBroken`. */
export function breakOff(
  pool: Pool,
  client: PoolClient,
  failure: unknown,
  limitMs: number,
  onBroken: () => void = ignore,
): void {
  if (isTimedOut(failure)) {
    suspectBefore.set(pool, performance.now() - limitMs / 2)
    // Cancel before closing: a pooler cannot find the statement of a client that has disconnected.
    void cancelStatement(client).then(() => {
      destroy(client)
      onBroken()
    })
    return
  }
  // The others are connected to the same server, which has become a standby.
  if (isReadOnlyFailure(failure)) suspectBefore.set(pool, performance.now())
  destroy(client)
  onBroken()
}

/** Sends a cancel request for the running statement on a new connection. Never fails; PostgreSQL sends no answer. */
export function cancelStatement(client: ClientBase): Promise<void> {
  const {
    processID,
    secretKey,
    host = 'localhost',
    port = 5432,
    ssl,
    sslNegotiation,
  } = client as ClientInternals
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

const surviving = new WeakSet<ClientBase>()

/**
 * Adds a listener for `error`. A broken connection fails its statement and also emits this event, which ends the process
 * when there is no listener. The event can come after the connection was returned, so the listener is never removed.
 */
export function survive<C extends ClientBase>(client: C): C {
  if (!surviving.has(client)) {
    surviving.add(client)
    client.on('error', ignore)
    // A connection of the application's pool may have been made without keepalive.
    ;(client as ClientInternals).connection?.stream?.setKeepAlive?.(true, KEEP_ALIVE_DELAY_MS)
  }
  return client
}

/** The pool replaces an idle connection that breaks. Without a listener the error would end the process. */
export function quiet(pool: Pool): Pool {
  surviveAll(pool)
  return pool.on('error', ignore)
}

/**
 * `survive` for each new connection of the pool. Its caller would be too late: the server can end a connection in the packet
 * in which it accepts it. Returns a function that stops this for later connections.
 */
export function surviveAll(pool: Pool): () => void {
  pool.on('connect', survive)
  return () => void pool.off('connect', survive)
}

/** Makes a connection outside every pool, not connected yet. */
export function newClient(config: ClientConfig): pg.Client {
  const { Client = PromptClient } = config as PoolConfig & { Client?: typeof PromptClient }
  return survive(new Client(config))
}

function ignore(): void {}
