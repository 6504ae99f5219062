/** A shop: Stripe says that an invoice is paid, and the order, the ledger and the receipt follow, once. */
import express from 'express'
import { createInbox, env, permanent } from 'hookonce'
import { expressHandler } from 'hookonce/express'
import { postgres } from 'hookonce/postgres'
import { stripe } from 'hookonce/providers'
import pg from 'pg'
import { sendReceipt } from './receipts.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query(`
  create table if not exists orders (invoice text primary key, paid_at timestamptz);
  create table if not exists ledger (event_id text not null, invoice text not null, cents bigint not null);
`)

const inbox = createInbox({
  store: postgres({ pool }),
  sources: { stripe: stripe({ secret: env('STRIPE_WEBHOOK_SECRET') }) },
})

interface Invoice {
  data: { object: { id: string; amount_paid?: number; customer_email?: string } }
}

inbox.on('stripe', 'invoice.paid', async (event, ctx) => {
  const { id, amount_paid: cents = 0, customer_email: email } = (event.payload as Invoice).data.object
  if (cents < 0) throw permanent(new Error('the amount is negative'))
  // A call to another service: recorded when it has ended, with a key for the moment before that.
  await ctx.once('receipt', () => sendReceipt(email ?? 'unknown', ctx.idempotencyKey('receipt')))
  // The order, the ledger and the state of the event commit together, or not at all.
  await ctx.tx.query(
    'insert into orders (invoice, paid_at) values ($1, now()) on conflict (invoice) do update set paid_at = excluded.paid_at',
    [id],
  )
  await ctx.tx.query('insert into ledger (event_id, invoice, cents) values ($1, $2, $3)', [
    event.id,
    id,
    cents,
  ])
})

const app = express()
app.use(expressHandler(inbox)) // POST /webhooks/stripe; above express.json()
app.use(express.json())
app.get('/orders/:invoice', async (request, response) => {
  const { rows } = await pool.query('select * from orders where invoice = $1', [request.params.invoice])
  response.status(rows.length === 0 ? 404 : 200).json(rows[0] ?? null)
})

await inbox.start()
const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('listening'))

process.once('SIGTERM', async () => {
  server.close()
  await inbox.stop()
  await pool.end()
})
