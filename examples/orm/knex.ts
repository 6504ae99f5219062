import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'
import knex, { type Knex } from 'knex'

export function knexOn(ctx: HandlerContext<PostgresTx>): Knex {
  const db = knex({ client: 'pg' })
  const connection = asClient(ctx.tx)
  db.client.acquireConnection = async () => connection
  db.client.releaseConnection = async () => {}
  return db
}
