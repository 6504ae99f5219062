/**
 * The log beside the app, in the same database: an effect and the outcome of its event commit together, so the effect
 * happens exactly once, also when the process is killed.
 */
import { createInbox, type Inbox } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import type { Pool } from 'pg'

export function shopInbox(pool: Pool): Inbox<PostgresTx> {
  const inbox = createInbox<PostgresTx>({
    store: postgres({ pool }), // the log is in the schema `hookonce` of the app's database
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  })
  inbox.on('shop', 'order.paid', async (event, ctx) => {
    const { order } = event.payload as { order: string }
    await ctx.tx.query('update orders set paid = paid + 1 where id = $1', [order])
  })
  return inbox
}
