/** A log of its own for each case, and the user's table beside it in the same database. */
import { type PostgresTx, postgres } from 'hookonce/postgres'
import pg from 'pg'
import { postgresLog, postgresSchemaLog, type SharedLog } from './logs.js'
import type { OwnHarness } from './sqlite-harness.js'

interface Opened {
  readonly log: SharedLog
  readonly url: string
  readonly schema: string
  readonly outside: pg.Client
  /** Whether it is a copy of the template. */
  readonly isMigrated: boolean
}

/** With `server`: on that server, in a schema that is not copied from the template. */
export async function postgresHarness(server?: string): Promise<OwnHarness<PostgresTx>> {
  // The first call to `open` says whether the log is migrated: most cases get a copy of the migrated template.
  let opened: Promise<Opened> | null = null
  let offsetMs = 0
  const stores: ReturnType<typeof postgres>[] = []
  const here = (): Promise<Opened> => opened ?? Promise.reject(new Error('No store was opened.'))
  return {
    async open({ migrate = true } = {}) {
      opened ??= openLog(migrate, server)
      const { url, schema, isMigrated } = await opened
      const store = postgres({ url, schema })
      stores.push(store)
      if (migrate && !isMigrated) await store.migrate()
      return store
    },
    async advance(ms) {
      offsetMs += ms
      const { outside, schema } = await here()
      await outside.query(
        `create or replace function "${schema}".clock() returns timestamptz language sql stable
         as $$ select statement_timestamp() + make_interval(secs => ${offsetMs / 1000}) $$`,
      )
    },
    async insertEffect(tx, value) {
      const { log } = await here()
      await tx.query(log.insertEffect, [value])
    },
    async countEffects(value) {
      const { outside, schema } = await here()
      const { rows } = await outside.query(
        `select count(*)::int as n from ${schema}_user.effects where value = $1`,
        [value],
      )
      return rows[0].n
    },
    async end() {
      await Promise.allSettled(stores.map((store) => store.close()))
      const last = await opened
      await last?.outside.end()
      await last?.log.remove()
    },
  }
}

async function openLog(migrate: boolean, server?: string): Promise<Opened> {
  const isMigrated = migrate && server === undefined
  const log = isMigrated ? await postgresLog() : await postgresSchemaLog(server)
  const [, url = '', schema = ''] = log.args
  const outside = new pg.Client({ connectionString: url })
  await outside.connect()
  return { log, url, schema, outside, isMigrated }
}
