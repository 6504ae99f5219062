/**
 * `hookonce reconcile --demo`: a log in memory, and a Stripe on this machine that sends events, loses some deliveries and
 * lists them all. Nothing but the sender is made up: deliveries are signed and verified, and the list is read over HTTP.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInbox, type Inbox } from '../../inbox.js'
import type { Source } from '../../provider.js'
import { stripe } from '../../providers/stripe.js'
import { reportView } from '../../server/admin/reconcile-view.js'
import type { Output } from '../output.js'
import { reportText } from './report-text.js'

const EVENTS = 200
const LOST_EACH = 20
const LATE = 3
const HOUR_MS = 3_600_000
const secret = 'whsec_of_the_demo_0123456789'
const apiKey = 'rk_test_of_the_demo'
const types = ['invoice.paid', 'charge.refunded', 'customer.subscription.updated']

interface Sent {
  readonly id: string
  readonly created: number
  readonly body: string
}

export async function demo(output: Output): Promise<number> {
  const sent = Array.from({ length: EVENTS }, (_, i) => happened(i))
  const server = await listing(sent)
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const source = stripe({ secret, apiKey, baseUrl })
    const runs = new Map<string, number>()
    const inbox = createInbox({ store: 'sqlite::memory:', sources: { stripe: source }, log: 'silent' })
    inbox.on('stripe', '*', ({ id }) => void runs.set(id, (runs.get(id) ?? 0) + 1))
    const lost = sent.filter((_, i) => i % LOST_EACH === 0)
    for (const event of sent) if (!lost.includes(event)) await deliver(inbox, source, event)
    await inbox.drain()
    output.say(
      `A Stripe on this machine sent ${EVENTS} events, and ${lost.length} deliveries were lost on the way: your handler ran for ${runs.size}.\n\n$ hookonce reconcile stripe --since 3h`,
    )
    const report = reportView(await inbox.reconcile('stripe', { since: '3h' }), true)
    await inbox.drain()
    output.result(report, (paint) => reportText(report, paint))
    for (const event of lost.slice(0, LATE)) await deliver(inbox, source, event)
    await inbox.drain()
    const most = Math.max(...runs.values())
    output.say(
      `\nThen ${LATE} of the lost deliveries came after all. Your handler has run for ${runs.size} events, ${most === 1 ? 'once for each' : `up to ${most} times`}.\n\nWith your own Stripe: stripe({ secret, apiKey: env('STRIPE_API_KEY'), reconcile: { every: '1h' } }) in hookonce.config.ts.`,
    )
    await inbox.stop()
    return runs.size === EVENTS && most === 1 ? 0 : 1
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Between two hours and ten minutes ago. */
function happened(i: number): Sent {
  const created = Math.floor((Date.now() - 2 * HOUR_MS) / 1_000) + i * 30
  const id = `evt_demo${String(i).padStart(4, '0')}`
  const type = types[i % types.length]!
  const object = { id: `in_demo${i}`, object: 'invoice' }
  return { id, created, body: JSON.stringify({ id, object: 'event', type, created, data: { object } }) }
}

async function deliver(inbox: Inbox, source: Source, { body }: Sent): Promise<void> {
  await inbox.receive('stripe', await source.sign({ body, now: Date.now() }))
}

/** The pages of https://docs.stripe.com/api/events/list, and the endpoint that gets all types. */
async function listing(sent: readonly Sent[]): Promise<Server> {
  const newest = sent.toReversed()
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://demo')
    const allowed = request.headers.authorization === `Bearer ${apiKey}`
    const entries = pathname === '/v1/events' ? pageOf(newest, query) : ['{"enabled_events":["*"]}']
    response.writeHead(allowed ? 200 : 401, { 'content-type': 'application/json' })
    response.end(
      `{"object":"list","has_more":${entries.length === Number(query.get('limit'))},"data":[${entries}]}`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function pageOf(newest: readonly Sent[], query: URLSearchParams): string[] {
  const [from, to] = [Number(query.get('created[gte]')), Number(query.get('created[lt]'))]
  const listed = newest.filter(({ created }) => created >= from && created < to)
  const after = listed.findIndex(({ id }) => id === query.get('starting_after'))
  return listed.slice(after + 1, after + 1 + Number(query.get('limit'))).map(({ body }) => body)
}
