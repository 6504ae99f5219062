/**
 * Sends the statements of one connection one after the other. Only a pipelined connection takes several at once:
 * node-postgres 9 refuses a statement while another one runs.
 */
import type { ClientBase } from 'pg'
import { isPipelined } from './client.js'

type Query = (...args: readonly unknown[]) => unknown
type Callback = (error: unknown) => void

interface Submittable {
  submit(connection: unknown): unknown
  handleError?(error: unknown, connection: unknown): void
}

export class Turns {
  readonly #client: ClientBase
  /** Resolves, and never rejects, when the last statement has ended; null when none is under way. */
  #last: Promise<void> | null = null

  constructor(client: ClientBase) {
    this.#client = client
  }

  take<T>(send: () => Promise<T>): Promise<T> {
    if (isPipelined(this.#client)) return send()
    const turn = this.#last === null ? send() : this.#last.then(send)
    const ended: Promise<void> = turn.then(ignore, ignore).then(() => {
      if (this.#last === ended) this.#last = null
    })
    this.#last = ended
    return turn
  }

  /** Takes the arguments of `client.query`: they may contain a callback, or a cursor that is returned as it is. */
  query(client: () => ClientBase, args: readonly unknown[]): unknown {
    const send = () => (client() as unknown as { query: Query }).query(...args)
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

/** A statement with a callback returns no promise. The driver emits `drain` when it can take the next one. */
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
