/** The compared servers. Each answers POST with a small JSON body; bench/intake.ts describes them. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'

const secret = process.env.BENCH_SECRET!
const servers: Record<string, () => Promise<Server>> = {
  async bare() {
    return createServer((request, response) => {
      readAll(request, () => reply(response, { status: 'accepted' }))
    })
  },
  async checked() {
    return createServer((request, response) => {
      readAll(request, (body) => {
        if (!signatureIsGood(request, body)) return void response.writeHead(401).end()
        const event = JSON.parse(body.toString()) as { id: string }
        reply(response, { status: 'accepted', event_id: event.id })
      })
    })
  },
  sqlite: () => hookonce(`sqlite:${process.env.BENCH_SQLITE}`),
  postgres: () => hookonce(process.env.BENCH_POSTGRES!),
  forwarding,
  handwritten,
}

async function hookonce(store: string): Promise<Server> {
  const inbox = createInbox({ store, sources: { stripe: stripe({ secret }) } })
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

async function forwarding(): Promise<Server> {
  const { addDestinations } = await import('hookonce/forward')
  const inbox = createInbox({
    store: `sqlite:${process.env.BENCH_SQLITE}`,
    sources: { stripe: stripe({ secret }) },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const urls = process.env.BENCH_DESTINATIONS!.split(' ')
  addDestinations(
    inbox,
    Object.fromEntries(
      urls.map((url, i) => [
        `to${i}`,
        { url, secret: `whsec_${'A'.repeat(43)}=`, timeoutMs: 2_000, allowPrivate: ['127.0.0.0/8'] },
      ]),
    ),
  )
  await inbox.start()
  return createServer(nodeHandler(inbox))
}

/** The usual hand-written handler: select, then insert, in one transaction per delivery. */
async function handwritten(): Promise<Server> {
  const { default: express } = await import('express')
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: process.env.BENCH_POSTGRES!, max: 20 })
  await pool.query(`create table if not exists processed_events
    (event_id text primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default now())`)
  const app = express()
  app.post('/webhooks/stripe', express.raw({ type: '*/*' }), async (request, response) => {
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
    } catch {
      await client.query('rollback')
      response.status(500).end()
    } finally {
      client.release()
    }
  })
  return createServer(app)
}

function readAll(request: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => then(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}

function reply(response: ServerResponse, value: object): void {
  const body = JSON.stringify(value)
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}

function signatureIsGood(request: IncomingMessage, body: Buffer): boolean {
  const match = /t=(\d+),v1=([0-9a-f]{64})/.exec(String(request.headers['stripe-signature']))
  if (!match) return false
  const expected = createHmac('sha256', secret).update(`${match[1]}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(match[2]!, 'hex'))
}

const server = await servers[process.argv[2]!]!()
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.exit(0))
