/**
 * A log of its own, in another database than the app: no transaction can contain both. The effect gets a key, the id of
 * its event, and the app's database refuses the second one: the handler may run twice, the effect happens once.
 */
import { createInbox, type Inbox } from 'hookonce'
import { unverified } from 'hookonce/providers'
import type { Pool } from 'pg'

export function shopInbox(logUrl: string, app: Pool): Inbox {
  const inbox = createInbox({
    store: logUrl,
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  })
  inbox.on('shop', 'order.paid', async (event) => {
    const { order } = event.payload as { order: string }
    // One statement, so it is one transaction of the app's database.
    await app.query(
      `with first as (insert into handled (event_id) values ($1) on conflict do nothing returning 1)
       update orders set paid = paid + 1 where id = $2 and exists (select 1 from first)`,
      [event.id, order],
    )
  })
  return inbox
}
