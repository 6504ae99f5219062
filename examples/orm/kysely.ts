import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'
import { Kysely, PostgresDialect } from 'kysely'

export function kyselyOn<Tables>(ctx: HandlerContext<PostgresTx>): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: asClient(ctx.tx) }) })
}
