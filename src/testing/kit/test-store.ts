/**
 * The test moves the time of its store: SQLite in memory by default, or a separate schema in a PostgreSQL database, which is
 * dropped at the end.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.js'
import { HookonceError, invalid } from '../../errors.js'
import { importPart, isMissing } from '../../optional-module.js'
import type { Store } from '../../store.js'

export interface TestStore<Tx = unknown> {
  readonly store: Store<Tx>
  /** The time of the log is now later by so much in all. */
  moveTo(offsetMs: number): Promise<void>
  /** Runs one statement on the database of the log, for tables of the application. */
  sql(text: string, params?: readonly unknown[]): Promise<Record<string, unknown>[]>
  remove(): Promise<void>
}

export async function openTestStore<Tx>(wanted: Store<Tx> | string, clock: Clock): Promise<TestStore<Tx>> {
  if (typeof wanted !== 'string') return storeOfCaller(wanted)
  if (wanted.startsWith('sqlite:')) {
    const { sqlite } = await importPart<typeof import('../../stores/sqlite/sqlite.js')>('hookonce/sqlite')
    const store = sqlite(wanted.slice('sqlite:'.length), { clock }) as unknown as Store<Tx>
    // Its time is the clock of the test, which has moved already.
    return { store, moveTo: async () => {}, sql: sqlOf(store), remove: async () => {} }
  }
  const schema = `hookonce_test_${randomBytes(6).toString('hex')}`
  const { postgres } = await importPart<typeof import('../../stores/postgres/postgres.js')>(
    'hookonce/postgres',
  ).catch((error: unknown) => {
    throw isMissing(error, 'pg') ? new HookonceError('DRIVER_MISSING', { driver: 'pg' }) : error
  })
  const store = postgres({ url: wanted, schema }) as unknown as Store<Tx>
  const sql = sqlOf(store)
  return {
    store,
    moveTo: (offsetMs) => movePostgres(sql, schema, offsetMs),
    sql,
    async remove() {
      await sql(`drop schema if exists "${schema}" cascade`)
    },
  }
}

/** The log of a caller stays as it is; only a PostgreSQL log has a clock that can be moved from outside. */
function storeOfCaller<Tx>(store: Store<Tx>): TestStore<Tx> {
  const schema = store.name.startsWith('postgres:') ? store.name.slice('postgres:'.length) : null
  const sql = sqlOf(store)
  return {
    store,
    async moveTo(offsetMs) {
      if (schema === null) {
        throw invalid(
          'advance()',
          'needs a store that testInbox opens: pass its URL, such as "sqlite::memory:"',
        )
      }
      await movePostgres(sql, schema, offsetMs)
    },
    sql,
    async remove() {
      if (schema !== null) await movePostgres(sql, schema, 0)
    },
  }
}

type Sql = TestStore['sql']

async function movePostgres(sql: Sql, schema: string, offsetMs: number): Promise<void> {
  await sql(
    `create or replace function "${schema}".clock() returns timestamptz language sql stable
     as $$ select statement_timestamp() + make_interval(secs => ${Math.round(offsetMs) / 1000}) $$`,
  )
}

interface AnyTx {
  query?(text: string, params?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  all?(text: string, params?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

function sqlOf<Tx>(store: Store<Tx>): Sql {
  return async (text, params = []) => {
    const transaction = await store.transaction()
    try {
      const tx = transaction.tx as AnyTx
      const rows = tx.query ? (await tx.query(text, [...params])).rows : await tx.all!(text, [...params])
      await transaction.commit()
      return rows
    } catch (error) {
      await transaction.rollback()
      throw error
    }
  }
}
