/**
 * Sends the statements of one connection one after the other. A pipelined connection takes all of them at once; every
 * other one, such as a connection of the application's pool, has at most one: node-postgres 9 refuses a statement while
 * another one runs.
 */
import type { ClientBase } from 'pg'
import { isPipelined } from './client.js'

type Query = (...args: readonly unknown[]) => unknown
type Callback = (error: unknown) => void

/** A cursor or a stream: it gives its rows itself. */
interface Submittable {
  submit(connection: unknown): unknown
  handleError?(error: unknown, connection: unknown): void
}

export class Turns {
  readonly #client: ClientBase
  /** Resolves when the last statement has ended; null when none is under way. It never rejects. */
  #last: Promise<void> | null = null

  constructor(client: ClientBase) {
    this.#client = client
  }

  /** Calls `send` when the statements before it have ended; at once when none is under way. */
  take<T>(send: () => Promise<T>): Promise<T> {
    if (isPipelined(this.#client)) return send()
    const turn = this.#last === null ? send() : this.#last.then(send)
    const ended: Promise<void> = turn.then(ignore, ignore).then(() => {
      if (this.#last === ended) this.#last = null
    })
    this.#last = ended
    return turn
  }

  /** For the arguments of `client.query`, which may contain a callback, or a cursor that is returned as it is. */
  query(open: () => ClientBase, args: readonly unknown[]): unknown {
    const send = () => (open() as unknown as { query: Query }).query(...args)
    if (isPipelined(this.#client)) return send()
    const submittable = submittableIn(args)
    const callback = callbackIn(args)
    if (submittable === null && callback === null) return this.take(async () => send())
    this.take(async () => {
      const ended = idle(this.#client)
      send()
      await ended
    }).catch((error: unknown) => {
      if (submittable !== null) submittable.handleError?.(error, this.#client)
      else callback!(error)
    })
    return submittable ?? undefined
  }
}

/** For a statement whose result is no promise: the driver emits `drain` when it can take the next one. */
function idle(client: ClientBase): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      client.off('drain', over)
      client.off('end', over)
      resolve()
    }
    client.on('drain', over)
    client.on('end', over)
  })
}

function submittableIn([query]: readonly unknown[]): Submittable | null {
  return typeof (query as Partial<Submittable> | null)?.submit === 'function' ? (query as Submittable) : null
}

function callbackIn(args: readonly unknown[]): Callback | null {
  const given = args.find((arg) => typeof arg === 'function')
  const inConfig = (args[0] as { callback?: unknown } | null)?.callback
  return (given ?? (typeof inConfig === 'function' ? inConfig : null)) as Callback | null
}

function ignore(): void {}
