/** A port for a server that another process will open. */
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 20_000
/** Each process of a run has its own share. Outside of a test, as in the global setup, the last one. */
const SHARES = 16
const SHARE = 12_000 / SHARES

/**
 * Below the range from which systems take the ports of outgoing connections and of `listen(0)`: nobody is given this
 * port between the look and the start of the server, nor while a server is restarted.
 */
export async function freePort(): Promise<number> {
  const own = Number(process.env.VITEST_POOL_ID ?? SHARES - 1) % SHARES
  for (;;) {
    const port = FIRST + own * SHARE + Math.floor(Math.random() * SHARE)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
