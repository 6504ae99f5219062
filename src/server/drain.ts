/**
 * The end of a listening server: no new connections, the requests under way finish, connections go as they fall idle.
 *
 * An idle connection is not cut the moment we stop: a proxy may have put the next request on the wire already, and would
 * see it fail. It gets a short time in which that request is still answered, with `Connection: close`.
 */
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

const LINGER_MS = 250
const SWEEP_MS = 25

/** Resolves when every connection is gone; those left after `deadlineMs` are cut. `now` cuts them at once. */
export async function drainConnections(node: Server, deadlineMs: number, now: AbortSignal): Promise<void> {
  if (!node.listening) return
  // Not node.close(): it cuts idle connections before anything else.
  const gone = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(node, () => resolve())
  })
  let sweep: NodeJS.Timeout | undefined
  const linger = setTimeout(
    () => {
      node.closeIdleConnections()
      sweep = setInterval(() => node.closeIdleConnections(), SWEEP_MS)
    },
    Math.min(LINGER_MS, deadlineMs / 2),
  )
  const cut = () => node.closeAllConnections()
  const deadline = setTimeout(cut, deadlineMs)
  now.addEventListener('abort', cut)
  if (now.aborted) cut()
  await gone
  clearTimeout(linger)
  clearTimeout(deadline)
  clearInterval(sweep)
  now.removeEventListener('abort', cut)
  node.close(() => {}) // ends its own timer; it says that it is closed already
}
