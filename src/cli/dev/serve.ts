/** Intake and health on a port of this machine. */
import { createServer } from 'node:http'
import { nodeHandler } from '../../adapters/node.js'
import type { Inbox } from '../../inbox.js'

export interface Listening {
  readonly address: string
  close(): Promise<void>
}

export function listen(inbox: Inbox, port: number, host: string): Promise<Listening> {
  const intake = nodeHandler(inbox)
  const server = createServer({ requestTimeout: 15_000, headersTimeout: 10_000 }, (request, response) => {
    if (request.url === '/healthz') return response.end('ok\n')
    if (request.url === '/readyz') {
      inbox.events.stats().then(
        () => response.end('ready\n'),
        () => response.writeHead(503).end('the store cannot be reached\n'),
      )
      return
    }
    intake(request, response).catch(() => response.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const { port: actual } = server.address() as { port: number }
      resolve({
        address: `http://${host}:${actual}`,
        close: () => new Promise((done) => server.close(() => done()).closeIdleConnections()),
      })
    })
  })
}

export function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
