/**
 * Stops a listening server: it accepts no new connections, finishes requests in progress, and closes idle connections.
 *
 * An idle connection is not closed at once: its client may have sent the next request already, and that request would
 * fail. For a short time, longer when the server was busy, such a request is still answered, with `Connection: close`.
 * The wait ends early when no connection is left.
 */
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

const LINGER_MS = 250
const BUSY_LINGER_MS = 5_000
const SWEEP_MS = 25

export interface DrainOptions {
  /** All connections are cut after this time. */
  readonly deadlineMs: number
  readonly wasBusy: boolean
  readonly now: AbortSignal
}

export async function drainConnections(
  node: Server,
  { deadlineMs, wasBusy, now }: DrainOptions,
): Promise<void> {
  if (!node.listening) return
  if (!now.aborted) await emptyBacklog(node)
  // node.close() would close idle connections at once.
  const allClosed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(node, () => resolve())
  })
  let sweep: NodeJS.Timeout | undefined
  const linger = setTimeout(
    () => {
      node.closeIdleConnections()
      sweep = setInterval(() => node.closeIdleConnections(), SWEEP_MS)
    },
    Math.min(wasBusy ? BUSY_LINGER_MS : LINGER_MS, deadlineMs / 4),
  )
  const cut = () => node.closeAllConnections()
  const deadline = setTimeout(cut, deadlineMs)
  now.addEventListener('abort', cut)
  if (now.aborted) cut()
  await allClosed
  clearTimeout(linger)
  clearTimeout(deadline)
  clearInterval(sweep)
  now.removeEventListener('abort', cut)
  node.close(() => {}) // stops the timer of node:http; the error that the server is closed already is ignored
}

/**
 * Accepts the connections in the backlog of the port: their clients are already connected, and closing the port would
 * reset them. Node accepts a few in each turn of the event loop, so the port stays open until three turns in a row
 * bring no connection, for 200 turns at most.
 */
async function emptyBacklog(node: Server): Promise<void> {
  let accepted = true
  const onConnection = () => {
    accepted = true
  }
  node.on('connection', onConnection)
  for (let turn = 0, quiet = 0; turn < 200 && quiet < 3; turn++) {
    accepted = false
    await new Promise((resolve) => setImmediate(resolve))
    quiet = accepted ? 0 : quiet + 1
  }
  node.off('connection', onConnection)
}
