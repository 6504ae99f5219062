/**
 * Knows one migration more than the build. Waits for a line on stdin, so that several start at the same moment, then
 * migrates and says the report.
 */
import { once } from 'node:events'
import { postgres } from 'hookonce/postgres'
import { migrations as postgresMigrations } from '#dist/stores/postgres/schema.js'
import { openConnection } from '#dist/stores/sqlite/connection.js'
import { migrate } from '#dist/stores/sqlite/migrate.js'
import { migrations as sqliteMigrations } from '#dist/stores/sqlite/schema.js'
import { say } from './child-store.mjs'

const [kind, where = '', schema = ''] = process.argv.slice(2)

/** Fails when it is applied twice. @param {readonly import('hookonce/testing/contracts').Migration[]} list @param {string} table */
function addMigration(list, table) {
  const number = list.length + 1
  const sql = `create table ${table} (n int);`
  // @ts-expect-error the list is read-only
  list.push({ number, name: 'next', sql, compatibleFrom: number })
}
addMigration(postgresMigrations, 'hookonce.next')
addMigration(sqliteMigrations, 'hookonce_next')

say('ready')
await once(process.stdin, 'data')
if (kind === 'sqlite') {
  // Not by the store: its thread has a list of its own.
  const connection = openConnection({ path: where, busyTimeoutMs: 60_000, readOnly: false })
  connection.now = Date.now()
  say(JSON.stringify(migrate(connection)))
  connection.close()
} else {
  const store = postgres({ url: where, schema })
  say(JSON.stringify(await store.migrate()))
  await store.close()
}
process.exit(0)
