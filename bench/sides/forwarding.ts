/** hookonce on SQLite with a destination for each URL in BENCH_DESTINATIONS. */
import { createServer, type Server } from 'node:http'
import { createInbox } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { stripe } from 'hookonce/providers'
import { SECRET } from '../support/requests.js'

export async function forwarding(): Promise<Server> {
  const { addDestinations } = await import('hookonce/forward')
  const inbox = createInbox({
    store: `sqlite:${process.env.BENCH_SQLITE}`,
    sources: { stripe: stripe({ secret: SECRET }) },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const urls = process.env.BENCH_DESTINATIONS!.split(' ')
  addDestinations(
    inbox,
    Object.fromEntries(
      urls.map((url, i) => [
        `to${i}`,
        { url, secret: `whsec_${'A'.repeat(43)}=`, timeout: 2_000, allowPrivate: ['127.0.0.0/8'] },
      ]),
    ),
  )
  await inbox.start()
  return createServer(nodeHandler(inbox))
}
