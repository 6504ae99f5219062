/** Which attempt last wrote a row of the user's. Only PostgreSQL tells which transaction wrote a row. */
import { invalid } from '../errors.js'
import type { Store } from '../store.js'
import type { Attempt } from './inspect.js'

export interface RowName {
  /** `orders`, `shop.orders`, `"Orders"`. */
  readonly table: string
  /** A value of the primary key, or `column=value` pairs of any columns: `42`, `order_id=7 line=1`. */
  readonly key: string
}

export interface RowWriter {
  /** With its schema, and quoted where needed. */
  readonly table: string
  readonly key: Readonly<Record<string, string>>
  /** `xmin` of the row: the transaction that last wrote it. */
  readonly transactionId: string
  /**
   * `attempt`: this transaction is that of `attempts`. `near`: it is none of a recorded attempt; those of `attempts` were the
   * last to begin before it, and one of them may have written the row inside a savepoint. `none`: nothing is known.
   */
  readonly found: 'attempt' | 'near' | 'none'
  /** Several for `attempt` when events shared the transaction. */
  readonly attempts: readonly RowAttempt[]
}

export interface RowAttempt extends Attempt {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly reference: string | null
}

/** Null when there is no such row. */
export function rowWriter(
  { name, inspect }: Pick<Store, 'name' | 'inspect'>,
  row: RowName,
): Promise<RowWriter | null> {
  if (!inspect?.writerOf)
    throw invalid(
      'hookonce why',
      `needs a log on PostgreSQL, which tells who wrote a row; this one is ${name}`,
    )
  return inspect.writerOf(row)
}

/** The words of the answer, for people. */
export const rowWriterWords: Readonly<Record<RowWriter['found'], string>> = {
  attempt: 'was last written by the transaction of',
  near: 'was last written by a transaction that no attempt has recorded. If a handler wrote it inside a savepoint (as the transactions of ORMs are), it was probably one of these; otherwise another program wrote it after them',
  none: 'was last written by a transaction that no attempt has recorded: another program wrote it, it is older than the log, or it was restored from a dump',
}
