/** A log that several processes can open, on each store, with a table of the user's beside it. */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { inject } from 'vitest'
import { migratedDatabase, once } from './database.js'

export type StoreKind = 'SQLite' | 'PostgreSQL'

export const storeKinds: readonly StoreKind[] = ['SQLite', 'PostgreSQL']

export interface SharedLog {
  /** For `childStore` in a child process. */
  readonly args: readonly string[]
  readonly insertEffect: string
  open(): CompleteStore
  /** The values in the user's table. */
  effects(): Promise<string[]>
  /** Runs SQL on the log's tables; `log.` stands for where they are. */
  sql(text: string): Promise<void>
  remove(): Promise<void>
}

export async function sqliteLog(): Promise<SharedLog> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-sqlite-'))
  const path = join(folder, 'events.db')
  const outside = new DatabaseSync(path)
  outside.exec('pragma busy_timeout = 60000; create table user_effects (value text not null)')
  return {
    args: ['sqlite', path],
    insertEffect: 'insert into user_effects (value) values (?)',
    open: () => sqlite(path),
    async effects() {
      return outside
        .prepare('select value from user_effects')
        .all()
        .map((row) => String((row as { value: string }).value))
    },
    async sql(text) {
      outside.exec(text.replaceAll('log.', 'hookonce_'))
    },
    async remove() {
      outside.close()
      // A process that a test has left may still write to it.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** A migrated log in a database of its own. */
export async function postgresLog(): Promise<SharedLog> {
  const database = await migratedDatabase()
  return postgresLogIn(database.url, 'log', database.drop)
}

/** A log in a schema of its own, which is not migrated. */
export async function postgresSchemaLog(url: string = inject('postgresUrl')): Promise<SharedLog> {
  const schema = `log_${randomBytes(6).toString('hex')}`
  await once(url, `create schema ${schema}_user; create table ${schema}_user.effects (value text not null)`)
  return postgresLogIn(url, schema, () =>
    once(url, `drop schema if exists ${schema} cascade; drop schema ${schema}_user cascade`),
  )
}

function postgresLogIn(url: string, schema: string, remove: () => Promise<void>): SharedLog {
  return {
    args: ['postgres', url, schema],
    insertEffect: `insert into ${schema}_user.effects (value) values ($1)`,
    open: () => postgres({ url, schema }),
    async effects() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        const { rows } = await client.query(`select value from ${schema}_user.effects`)
        return rows.map((row) => String(row.value))
      } finally {
        await client.end()
      }
    },
    sql: (text) => once(url, text.replaceAll('log.', `${schema}.`)),
    remove,
  }
}
