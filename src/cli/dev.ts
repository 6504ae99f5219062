/** `hookonce dev`: intake on this machine with no configuration. Secrets are made on first use and kept for this folder. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { nodeHandler } from '../adapters/node.js'
import { invalid } from '../errors.js'
import { createInbox, type Inbox } from '../inbox.js'
import { jsonLog } from '../log.js'
import type { Source } from '../provider.js'
import { catalogue } from '../providers/index.js'

export interface DevOptions {
  readonly port?: number
  readonly host?: string
  readonly store?: string
}

export async function dev(options: DevOptions): Promise<number> {
  const { port = 4100, host = '127.0.0.1', store = 'sqlite:.hookonce/events.db' } = options
  mkdirSync('.hookonce', { recursive: true, mode: 0o700 })
  const inbox = createInbox({ store, sources: devSources(devSecret()), log: jsonLog('info') })
  await inbox.start()
  const server = serve(inbox)
  const address = await listen(server, port, host)
  process.stderr.write(`hookonce is ready
  store    ${store}
  intake   ${address}/webhooks/<provider>   (${inbox.sources.size} providers)
  health   ${address}/healthz, ${address}/readyz
  secret   .hookonce/secret, for every provider that takes a shared secret
`)
  await stopped()
  await new Promise((resolve) => server.close(resolve).closeIdleConnections())
  await inbox.stop()
  return 0
}

function serve(inbox: Inbox): Server {
  const intake = nodeHandler(inbox)
  return createServer({ requestTimeout: 15_000, headersTimeout: 10_000 }, (request, response) => {
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
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? invalid('The port', `${port} is in use; choose another with --port`)
          : error,
      )
    })
    server.listen(port, host, () => {
      const { port: actual } = server.address() as { port: number }
      resolve(`http://${host}:${actual}`)
    })
  })
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

function devSecret(): string {
  const path = '.hookonce/secret'
  if (!existsSync(path)) writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  return readFileSync(path, 'utf8').trim()
}

/** Every provider that can be configured with the one shared secret; those with key pairs need a configuration. */
function devSources(secret: string): Record<string, Source> {
  const sources: Record<string, Source> = {}
  for (const [key, factory] of Object.entries(catalogue)) {
    try {
      sources[key] = (factory as (options: { secret: string }) => Source)({ secret })
    } catch {
      // Needs something else than a shared secret.
    }
  }
  return sources
}
