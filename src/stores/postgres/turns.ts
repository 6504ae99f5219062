/**
 * Sends the statements of one connection one after the other. A pipelined connection takes all of them at once; every
 * other one, such as a connection of the application's pool, has at most one: node-postgres 9 refuses a statement while
 * another one runs.
 */
import type { ClientBase } from 'pg'

export interface Turns {
  /** Calls `send` when the statements before it have ended; at once when none is under way. */
  take<T>(send: () => Promise<T>): Promise<T>
  /** The same for the arguments of `client.query`, which may contain a callback, or a cursor that is returned as it is. */
  query(client: () => ClientBase, args: readonly unknown[]): unknown
}

type Query = (...args: readonly unknown[]) => unknown
type Callback = (error: unknown) => void

/** A cursor or a stream: it gives its rows itself. */
interface Submittable {
  submit(connection: unknown): unknown
  handleError?(error: unknown, connection: unknown): void
}

export function turnsOf(client: ClientBase): Turns {
  /** The end of the last statement; null when no statement is under way. It never rejects. */
  let last: Promise<void> | null = null

  function take<T>(send: () => Promise<T>): Promise<T> {
    if (isPipelined(client)) return send()
    const turn = last === null ? send() : last.then(send)
    const ended: Promise<void> = turn.then(ignore, ignore).then(() => {
      if (last === ended) last = null
    })
    last = ended
    return turn
  }

  return {
    take,
    query(open, args) {
      const send = () => (open() as unknown as { query: Query }).query(...args)
      const submittable = submittableIn(args)
      const callback = callbackIn(args)
      if (isPipelined(client)) return send()
      if (submittable === null && callback === null) return take(async () => send())
      take(async () => {
        const ended = idle(client)
        send()
        await ended
      }).catch((error: unknown) => {
        if (submittable !== null) submittable.handleError?.(error, client)
        else callback!(error)
      })
      return submittable ?? undefined
    },
  }
}

export function isPipelined(client: ClientBase): boolean {
  return (client as { pipeline?: boolean }).pipeline === true
}

/** The end of a statement whose result is no promise: the driver emits `drain` when it can take the next one. */
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
