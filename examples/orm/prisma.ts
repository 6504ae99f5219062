import { PrismaPg } from '@prisma/adapter-pg'
import type { HandlerContext } from 'hookonce'
import { asClient, type PostgresTx } from 'hookonce/postgres'
import pg from 'pg'
import { PrismaClient } from './generated/client.js'

/** `schema`: where the tables are, if not in `public`. */
export function prismaOn(ctx: HandlerContext<PostgresTx>, schema = 'public'): PrismaClient {
  const pool: pg.Pool = Object.setPrototypeOf(asClient(ctx.tx), pg.Pool.prototype)
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema }) })
}
