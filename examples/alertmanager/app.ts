/** Incidents from Prometheus Alertmanager: an alert that fires opens one, its end closes it. SQLite, nothing else to run. */
import { createServer } from 'node:http'
import { createInbox, env } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { alertmanager } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'

const inbox = createInbox({
  store: sqlite(process.env.DATABASE ?? 'events.db'),
  sources: {
    // The start and the end of one alert are handled in the order received.
    alerts: alertmanager({ bearerToken: env('ALERTMANAGER_TOKEN'), order: 'reference' }),
  },
})

interface Alert {
  labels: { alertname: string }
}

const states: Record<string, string> = { firing: 'open', resolved: 'closed' }

for (const type of ['firing', 'resolved']) {
  inbox.on('alerts', type, async (event, ctx) => {
    const { labels } = event.payload as Alert
    await ctx.tx.run(
      'create table if not exists incidents (alert text primary key, name text, state text, changes integer)',
    )
    const row = await ctx.tx.get(
      `insert into incidents (alert, name, state, changes) values (?, ?, ?, 1)
       on conflict (alert) do update set state = excluded.state, changes = changes + 1
       returning name, state, changes`,
      [event.reference, labels.alertname, states[type]!],
    )
    console.log(`incident ${row?.name}: ${row?.state}, change ${row?.changes}`)
  })
}

await inbox.start()
const server = createServer(nodeHandler(inbox)).listen(Number(process.env.PORT ?? 3000), () =>
  console.log('listening'),
)
process.once('SIGTERM', async () => {
  server.close()
  await inbox.stop()
})
