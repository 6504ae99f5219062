import type { StoreTransaction } from '../../store.js'
import type { SqliteValue } from './driver.js'
import type { RunResult } from './protocol.js'
import type { ThreadLink } from './threads.js'

/** One statement per call, with parameters by position. The user's tables are in the same file as the log. */
export interface SqliteTx {
  run(sql: string, params?: readonly SqliteValue[]): Promise<RunResult>
  get<R = Record<string, SqliteValue>>(sql: string, params?: readonly SqliteValue[]): Promise<R | undefined>
  all<R = Record<string, SqliteValue>>(sql: string, params?: readonly SqliteValue[]): Promise<R[]>
}

let lastTransaction = 0

export async function beginTransaction(thread: ThreadLink): Promise<StoreTransaction<SqliteTx>> {
  const transaction = ++lastTransaction
  await thread.call('tx.begin', { transaction })
  const tx: SqliteTx = {
    run: (sql, params = []) => thread.call('tx.run', { transaction, sql, params }),
    get: <R>(sql: string, params: readonly SqliteValue[] = []) =>
      thread.call('tx.get', { transaction, sql, params }) as Promise<R | undefined>,
    all: <R>(sql: string, params: readonly SqliteValue[] = []) =>
      thread.call('tx.all', { transaction, sql, params }) as Promise<R[]>,
  }
  return {
    tx,
    settle: (settlements) => thread.call('tx.settle', { transaction, settlements }),
    finish: (settlements) => thread.call('tx.finish', { transaction, settlements }),
    commit: () => thread.call('tx.commit', { transaction }),
    rollback: () => thread.call('tx.rollback', { transaction }),
    keys: {
      advance: (watermark) => thread.call('tx.advance', { transaction, watermark }),
      effect: (step) => thread.call('tx.effect', { transaction, step }),
    },
    replies: {
      put: ({ lease: { seq } }, reply) => thread.call('tx.putReply', { transaction, seq, reply }),
    },
  }
}
