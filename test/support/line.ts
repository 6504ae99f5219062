/** A line to a server that can be cut, and led to another one. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Line {
  readonly url: string
  /** `refuse`: connections break and none is made. `silence`: they stay, and nothing gets through. */
  cut(how: 'refuse' | 'silence'): void
  /** Nothing gets through on the connections that are open now, and nobody is told; new ones work. */
  forget(): void
  /** Breaks the connections that are open now with a reset (RST); new ones work. */
  reset(): void
  /** Everything takes so much longer, both ways. */
  delay(ms: number): void
  /** Leads to `target` from now on, or to where it led before; what hung on the old line is broken. */
  join(target?: string): void
  close(): Promise<void>
}

export async function startLine(target: string, host = '127.0.0.1'): Promise<Line> {
  let to = new URL(target)
  let state: 'open' | 'refuse' | 'silence' = 'open'
  let delayMs = 0
  const sockets = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()

  const server = createServer((client) => {
    if (state === 'refuse') return void client.destroy()
    const upstream = connect(Number(to.port), to.hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('data', (chunk) => {
        const pass = () => {
          if (state !== 'silence' && !forgotten.has(one)) other.write(chunk)
        }
        if (delayMs === 0) pass()
        else setTimeout(pass, delayMs)
      })
      one.on('close', () => {
        sockets.delete(one)
        // The end of a forgotten connection is not heard at the other side either.
        if (!forgotten.has(one)) other.destroy()
      })
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = host
  url.port = String((server.address() as { port: number }).port)
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    cut(how) {
      state = how
      if (how === 'refuse') breakAll()
    },
    forget() {
      for (const socket of sockets) forgotten.add(socket)
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    delay(ms) {
      delayMs = ms
    },
    join(next) {
      if (next !== undefined) to = new URL(next)
      breakAll()
      state = 'open'
    },
    async close() {
      server.close()
      breakAll()
      await once(server, 'close')
    },
  }
}
