/**
 * `ctx.tx` as object-relational mappers want it: a client of node-postgres, and a pool that has only this client. Where
 * one begins and ends transactions of its own, they are savepoints of the handler's: its outcome and what was written
 * still commit together.
 */
import type { Pool, PoolClient } from 'pg'
import { invalid } from '../../errors.js'
import { boundaryIn, type PostgresTx } from './transaction.js'

export type TransactionClient = PoolClient & Pick<Pool, 'end'> & { connect(): Promise<PoolClient> }

type Query = (...args: readonly unknown[]) => Promise<unknown>
type Callback = (error: unknown, result?: unknown) => void

export function asClient(tx: PostgresTx): TransactionClient {
  const run = tx.query.bind(tx) as unknown as Query
  let depth = 0

  /** The statement as it is, or what stands for it inside a transaction that is not theirs to end. */
  async function translated(given: unknown, rest: readonly unknown[]): Promise<unknown> {
    const boundary = boundaryIn(given)
    if (boundary === null) return run(given, ...rest)
    if (boundary === 'begin') {
      if (asksForMore(given))
        throw invalid(
          'A nested transaction',
          'cannot set an isolation level; it has the one of the handler’s transaction',
        )
      return run(`savepoint ${nameOf(++depth)}`)
    }
    if (depth === 0)
      throw invalid(
        `The statement ${boundary}`,
        'has no matching begin; hookonce ends the handler’s transaction itself',
      )
    const name = nameOf(depth--)
    if (boundary === 'rollback') await run(`rollback to savepoint ${name}`)
    return run(`release savepoint ${name}`)
  }

  /** With a promise or, as Knex calls it, with a callback at the end. */
  function query(given: unknown, ...rest: unknown[]): unknown {
    const callback = typeof rest.at(-1) === 'function' ? (rest.pop() as Callback) : null
    const answer = translated(given, rest)
    if (callback === null) return answer
    answer.then(
      (result) => callback(null, result),
      (error) => callback(error),
    )
  }

  const nothing = () => client
  const client = {
    query,
    connect: async () => client,
    release() {},
    end: async () => {},
    // Connections come and go outside: there is nothing to listen for.
    on: nothing,
    once: nothing,
    off: nothing,
    removeListener: nothing,
    options: {},
  }
  return client as unknown as TransactionClient
}

/** A savepoint has no isolation level of its own; to leave it away in silence would be a lie. */
function asksForMore(query: unknown): boolean {
  const text = typeof query === 'string' ? query : String((query as { text: unknown }).text)
  return /\b(isolation|serializable|read\s+only|deferrable)\b/i.test(text)
}

function nameOf(depth: number): string {
  return `hookonce_nested_${depth}`
}
