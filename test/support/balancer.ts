/**
 * A plain load balancer: round robin over the nodes that answer /readyz with 200. It asks at an interval and does not
 * send a request twice, so a request that meets a closed port fails.
 */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Balancer {
  readonly url: string
  isUp(node: string): boolean
  close(): Promise<void>
}

const CHECK_MS = 250

export async function startBalancer(nodes: readonly string[]): Promise<Balancer> {
  const up = new Set<string>()
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  let isClosed = false

  async function check(node: string): Promise<void> {
    while (!isClosed) {
      const answer = await fetch(`${node}/readyz`, { headers: { connection: 'close' } }).catch(() => null)
      await answer?.arrayBuffer()
      if (answer?.status === 200) up.add(node)
      else up.delete(node)
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS))
    }
  }

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const all = nodes.filter((node) => up.has(node))
    const node = all[turn++ % all.length]
    const fail = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && node) up.delete(node)
      outgoing.writeHead(503).end(error.code)
    }
    if (node === undefined) return void fail(new Error('no node is up'))
    const { connection: _, ...headers } = incoming.headers
    const sent = request(`${node}${incoming.url}`, { method: incoming.method, headers, agent })
    sent.on('error', fail)
    sent.on('response', (answer) => {
      const { connection: _, ...kept } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, kept)
      answer.pipe(outgoing)
    })
    incoming.pipe(sent)
  }

  const server = createServer(pass).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const checks = nodes.map(check)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isUp: (node) => up.has(node),
    async close() {
      isClosed = true
      server.close().closeAllConnections()
      agent.destroy()
      await Promise.all(checks)
    },
  }
}
