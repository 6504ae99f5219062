/**
 * One connection of node-postgres: an end that does not wait for the server, and the cancelling of a statement that is
 * given up. A connection can fall silent without an error (a failover without a reset, a dropped NAT entry), so nothing
 * here waits for an answer.
 */
import type { ClientBase, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg'
import pg from 'pg'
import { timeLimited } from '../../clock.js'
import { isTimedOut, timedOut } from './failure.js'

/** Without the delay the operating system waits two hours before it asks. */
export const KEEP_ALIVE_DELAY_MS = 10_000
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS }

/** Long enough for a cancel request to arrive and for a polite goodbye; a silent server gets no more. */
const GOODBYE_MS = 1_000

/** What is there of a client beside its documented methods; other drivers of the same shape may lack it. */
interface Inside {
  readonly connection?: {
    readonly stream?: { destroy?(): void; setKeepAlive?(on: boolean, delayMs: number): void }
  }
  readonly readyForQuery?: boolean
  readonly processID?: number | null
  readonly secretKey?: number | null
  readonly host?: string
  readonly port?: number
  readonly ssl?: unknown
  readonly sslNegotiation?: string
}

/** A client whose `end` does not wait for a server that does not answer. */
export class PromptClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: two overloads, with and without a callback
  override end(...args: any[]): any {
    const timer = setTimeout(() => destroy(this), GOODBYE_MS)
    this.once('end', () => clearTimeout(timer))
    return super.end(...(args as []))
  }
}

/** The answer, or a failure of the connection when it takes longer. */
export function answerOf<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return timeLimited(answer, limitMs, timedOut)
}

/** Whether a statement is under way. */
export function isBusy(client: ClientBase): boolean {
  return (client as Inside).readyForQuery === false
}

/** Closes the socket at once; statements under way fail. */
export function destroy(client: ClientBase): void {
  ;(client as Inside).connection?.stream?.destroy?.()
}

const heardAt = new WeakMap<ClientBase, number>()
/** Per pool: connections that were last heard before this may be as silent as the one that timed out. */
const suspectBefore = new WeakMap<Pool, number>()

/**
 * A connection of the pool. While every place is taken it waits, at most so long. Those that may have fallen silent
 * together with another one are left out: to find that out one after the other takes a deadline each.
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

/** A little longer than the pool's own limit, so that its words are heard; the application's pool may have none. */
export function acquireMs(pool: Pool): number {
  const own = (pool.options as PoolConfig).connectionTimeoutMillis
  return own ? own + 500 : ACQUIRE_MS
}

/** Every place is taken. */
export function isFull(pool: Pool): boolean {
  return pool.idleCount === 0 && pool.totalCount >= pool.options.max
}

/** Back to its pool. After a failure it is destroyed, because its state is not known. */
export function giveBack(pool: Pool, client: PoolClient, failure: unknown = null, limitMs = 0): void {
  if (failure === null) {
    heardAt.set(client, performance.now())
    client.release()
  } else if (isTimedOut(failure)) {
    suspectBefore.set(pool, performance.now() - limitMs / 2)
    // The cancel goes first: a pooler no longer knows whose statement it was when the client is gone.
    void cancelStatement(client).then(() => {
      destroy(client)
      client.release(true)
    })
  } else {
    destroy(client)
    client.release(true)
  }
}

/** Asks the server, on a connection of its own, to cancel the statement under way. Never fails; there is no answer. */
export function cancelStatement(client: ClientBase): Promise<void> {
  const { processID, secretKey, host = 'localhost', port = 5432, ssl, sslNegotiation } = client as Inside
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
    const timer = setTimeout(over, GOODBYE_MS)
    const send = () => wire.cancel(processID, secretKey)
    wire.on('error', over)
    wire.on('end', over) // the server hangs up when it has passed the request on
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
 * A connection in use that breaks says so twice: to the statement, and as an event, which ends the process when nobody
 * listens. It may come after the connection was given back, so the listener stays for good.
 */
export function survive<C extends ClientBase>(client: C): C {
  if (!surviving.has(client)) {
    surviving.add(client)
    client.on('error', ignore)
    // Also on connections of the application's pool, which may have been made without it.
    ;(client as Inside).connection?.stream?.setKeepAlive?.(true, KEEP_ALIVE_DELAY_MS)
  }
  return client
}

/** An idle connection that breaks is replaced at its next use; without a listener it would end the process. */
export function quiet(pool: Pool): Pool {
  return pool.on('error', ignore)
}

/** A connection outside every pool, not connected yet. */
export function newClient(config: ClientConfig): pg.Client {
  return survive(new PromptClient(config))
}

function ignore(): void {}
