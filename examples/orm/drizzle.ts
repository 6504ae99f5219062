import { drizzle } from 'drizzle-orm/node-postgres'
import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'

export function drizzleOn(ctx: HandlerContext<PostgresTx>) {
  return drizzle({ client: asClient(ctx.tx) })
}
