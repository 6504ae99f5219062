/** A handler's transaction as the event loop sees it: `ctx.tx` of the SQLite store. */
import type { StoreTransaction } from '../../store.js'
import { checkEffect, checkSettlement, checkWatermark } from '../../store-input.js'
import type { RunResult } from './protocol.js'
import type { ThreadLink } from './thread-link.js'

/** What may be bound and what comes back. Integers beyond 2^53 come as bigint, all others as number. */
export type SqliteValue = null | number | bigint | string | Uint8Array

/** One statement per call, parameters by position. The tables of the user are in the same file as the log. */
export interface SqliteTx {
  run(sql: string, params?: readonly SqliteValue[]): Promise<RunResult>
  get<R = Record<string, SqliteValue>>(sql: string, params?: readonly SqliteValue[]): Promise<R | undefined>
  all<R = Record<string, SqliteValue>>(sql: string, params?: readonly SqliteValue[]): Promise<R[]>
}

let lastTransaction = 0

export async function beginTransaction(
  thread: ThreadLink,
  now: () => number,
): Promise<StoreTransaction<SqliteTx>> {
  const transaction = ++lastTransaction
  await thread.call('tx.begin', now(), { transaction })
  const tx: SqliteTx = {
    run: (sql, params = []) => thread.call('tx.run', now(), { transaction, sql, params }),
    get: <R>(sql: string, params: readonly SqliteValue[] = []) =>
      thread.call('tx.get', now(), { transaction, sql, params }) as Promise<R | undefined>,
    all: <R>(sql: string, params: readonly SqliteValue[] = []) =>
      thread.call('tx.all', now(), { transaction, sql, params }) as Promise<R[]>,
  }
  return {
    tx,
    async settle(settlements) {
      settlements.forEach(checkSettlement)
      return thread.call('tx.settle', now(), { transaction, settlements })
    },
    async finish(settlements) {
      settlements.forEach(checkSettlement)
      return thread.call('tx.finish', now(), { transaction, settlements })
    },
    commit: () => thread.call('tx.commit', now(), { transaction }),
    rollback: () => thread.call('tx.rollback', now(), { transaction }),
    keys: {
      async advance(watermark) {
        checkWatermark(watermark)
        return thread.call('tx.advance', now(), { transaction, watermark })
      },
      async effect(step) {
        checkEffect(step)
        return thread.call('tx.effect', now(), { transaction, step })
      },
    },
  }
}
