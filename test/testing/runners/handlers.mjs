/**
 * The handlers of a small application, as its tests import them.
 * @param {import('hookonce').Inbox<import('hookonce/sqlite').SqliteTx>} inbox
 */
export function handlers(inbox) {
  inbox.on('stripe', 'invoice.paid', async (event, ctx) => {
    await ctx.tx.run('insert into paid (invoice) values (?)', [event.reference])
  })
}
