/** Shopify orders in Hono, written with Drizzle inside the transaction of the event. */
import { serve } from '@hono/node-server'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { Hono } from 'hono'
import { createInbox, env } from 'hookonce'
import { honoHandler } from 'hookonce/hono'
import { asClient, postgres } from 'hookonce/postgres'
import { shopify } from 'hookonce/providers'
import pg from 'pg'

const orders = pgTable('shopify_orders', { id: text().primaryKey(), status: text().notNull() })

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query('create table if not exists shopify_orders (id text primary key, status text not null)')

const inbox = createInbox({
  store: postgres({ pool }),
  sources: { shopify: shopify({ secret: env('SHOPIFY_SECRET') }) },
})

inbox.on(
  'shopify',
  'orders/*',
  async (event, ctx) => {
    const db = drizzle({ client: asClient(ctx.tx) })
    const status = event.type.replace('orders/', '')
    await db
      .insert(orders)
      .values({ id: event.reference ?? event.id, status })
      .onConflictDoUpdate({ target: orders.id, set: { status } })
  },
  { order: 'reference' }, // one event of an order at a time
)

const app = new Hono()
app.all('/webhooks/:source', honoHandler(inbox))
app.get('/orders', async (context) => context.json(await drizzle({ client: pool }).select().from(orders)))

await inbox.start()
const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, () =>
  console.log('listening'),
)

process.once('SIGTERM', async () => {
  server.close()
  await inbox.stop()
  await pool.end()
})
