/**
 * Makes a client, which is also its pool, for object-relational mappers. Their transactions become savepoints of the
 * handler’s transaction: its writes and the outcome still commit together.
 */
import type { Pool, PoolClient } from 'pg'
import { invalid } from '../../../errors.js'
import type { PostgresTx } from '../transaction.js'
import { type Boundary, boundaryIn } from './handler-sql.js'

export type TransactionClient = PoolClient & Pick<Pool, 'end'> & { connect(): Promise<PoolClient> }

type Query = (...args: readonly unknown[]) => Promise<unknown>
type Callback = (error: unknown, result?: unknown) => void

export function asClient(tx: PostgresTx): TransactionClient {
  const run = tx.query.bind(tx) as unknown as Query
  let depth = 0

  /** Not async: the context of the handler watches the promise of `tx.query`, even when nobody awaits it. */
  function unchanged(statement: unknown, rest: readonly unknown[]): Promise<unknown> {
    try {
      return run(statement, ...rest)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async function translated(statement: unknown, boundary: Boundary): Promise<unknown> {
    if (boundary === 'begin') {
      if (hasTransactionMode(statement))
        throw invalid(
          'A nested transaction',
          'cannot set an isolation level; it has the one of the handler’s transaction',
        )
      return run(`savepoint ${savepointName(++depth)}`)
    }
    if (depth === 0)
      throw invalid(
        `The statement ${boundary}`,
        'has no matching begin; hookonce ends the handler’s transaction itself',
      )
    const name = savepointName(depth--)
    if (boundary === 'rollback') await run(`rollback to savepoint ${name}`)
    return run(`release savepoint ${name}`)
  }

  function query(statement: unknown, ...rest: unknown[]): unknown {
    const callback = typeof rest.at(-1) === 'function' ? (rest.pop() as Callback) : null
    const boundary = boundaryIn(statement)
    const answer = boundary === null ? unchanged(statement, rest) : translated(statement, boundary)
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
    on: nothing,
    once: nothing,
    off: nothing,
    removeListener: nothing,
    options: {},
  }
  return client as unknown as TransactionClient
}

/** A savepoint has no transaction mode. Ignoring the mode would hide that it has no effect. */
function hasTransactionMode(query: unknown): boolean {
  const text = typeof query === 'string' ? query : String((query as { text: unknown }).text)
  return /\b(isolation|serializable|read\s+only|deferrable)\b/i.test(text)
}

function savepointName(depth: number): string {
  return `hookonce_nested_${depth}`
}
