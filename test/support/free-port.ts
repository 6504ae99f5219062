/** A port for a server that another process will open. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the range from which systems take the ports of outgoing connections and of `listen(0)`: nobody is given this
 * port between the look and the start of the server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
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
