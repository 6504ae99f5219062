/** Stands between a store and its server, and can cut the line at the moment that hurts most. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface TestProxy {
  readonly url: string
  /**
   * Cuts the next exchange: `request` before the server has heard it, `answer` after the server has carried it out
   * and before the client hears of it, `commit` likewise for the next exchange with a COMMIT in its text. Resolves when
   * it has happened.
   */
  cutNext(what: 'request' | 'answer' | 'commit'): Promise<void>
  close(): Promise<void>
}

/** ReadyForQuery, idle: the server has committed and has nothing more to say. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startProxy(target: string): Promise<TestProxy> {
  const to = new URL(target)
  const sockets = new Set<Socket>()
  let armed: { what: 'request' | 'answer' | 'commit'; done: () => void; on?: Socket } | null = null

  const server = createServer((client) => {
    const upstream = connect(Number(to.port || 5432), to.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    function cut(): void {
      client.destroy()
      upstream.destroy()
      armed?.done()
      armed = null
    }
    client.on('data', (chunk) => {
      if (armed && !armed.on && (armed.what !== 'commit' || /\bcommit\b/i.test(chunk.toString('latin1'))))
        armed.on = client
      if (armed?.on === client && armed.what === 'request') return cut()
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (armed?.on !== client) client.write(chunk)
      else if (chunk.subarray(-READY.length).equals(READY)) cut()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    cutNext: (what) =>
      new Promise((done) => {
        armed = { what, done }
      }),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
