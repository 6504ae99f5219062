/** The usual hand-written handler, Express + pg: select, then insert, in one transaction for each delivery. */
import { createServer, type Server } from 'node:http'
import pg from 'pg'
import { signatureIsGood } from './http.js'

export async function handwritten(): Promise<Server> {
  const { default: express } = await import('express')
  const pool = new pg.Pool({ connectionString: process.env.BENCH_POSTGRES!, max: 20 })
  await pool.query(`create table if not exists processed_events
    (event_id text primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default now())`)
  const app = express()
  app.post('/webhooks/stripe', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
    if (!signatureIsGood(request, request.body)) return void response.status(401).end()
    const event = JSON.parse(request.body.toString()) as { id: string; type: string }
    const client = await pool.connect()
    try {
      await client.query('begin')
      const seen = await client.query('select 1 from processed_events where event_id = $1 for update', [
        event.id,
      ])
      if (seen.rowCount === 0) {
        await client.query(
          'insert into processed_events (event_id, event_type, payload) values ($1, $2, $3)',
          [event.id, event.type, request.body.toString()],
        )
      }
      await client.query('commit')
      response.json({ status: 'accepted', event_id: event.id })
    } catch (error) {
      console.error(error)
      await client.query('rollback')
      response.status(500).end()
    } finally {
      client.release()
    }
  })
  return createServer(app)
}
