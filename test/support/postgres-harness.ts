/** A schema of its own for each case, and the user's table beside the log in the same database. */
import { randomBytes } from 'node:crypto'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import pg from 'pg'
import type { OwnHarness } from './sqlite-harness.js'

export async function postgresHarness(url: string): Promise<OwnHarness<PostgresTx>> {
  const schema = `log_${randomBytes(6).toString('hex')}`
  const outside = new pg.Client({ connectionString: url })
  await outside.connect()
  await outside.query(
    `create schema ${schema}_user; create table ${schema}_user.effects (value text not null)`,
  )
  let offsetMs = 0
  const opened: ReturnType<typeof postgres>[] = []
  return {
    async open({ migrate = true } = {}) {
      const store = postgres({ url, schema })
      opened.push(store)
      if (migrate) await store.migrate()
      return store
    },
    async advance(ms) {
      offsetMs += ms
      await outside.query(
        `create or replace function "${schema}".clock() returns timestamptz language sql stable
         as $$ select statement_timestamp() + interval '${offsetMs} milliseconds' $$`,
      )
    },
    async insertEffect(tx, value) {
      await tx.query(`insert into ${schema}_user.effects (value) values ($1)`, [value])
    },
    async countEffects(value) {
      const { rows } = await outside.query(
        `select count(*)::int as n from ${schema}_user.effects where value = $1`,
        [value],
      )
      return rows[0].n
    },
    async end() {
      await Promise.allSettled(opened.map((store) => store.close()))
      await outside.query(`drop schema if exists ${schema} cascade; drop schema ${schema}_user cascade`)
      await outside.end()
    },
  }
}
