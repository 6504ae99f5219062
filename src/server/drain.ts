/**
 * The end of a listening server: no new connections, the requests under way finish, connections go as they fall idle.
 *
 * An idle connection is not cut the moment we stop: its client may have put the next request on the wire already, and
 * would see it fail. It gets a time in which that request is still answered, with `Connection: close`; longer when the
 * server was in use, because then one is likely. It ends early when nobody is connected any more.
 */
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

const LINGER_MS = 250
const BUSY_LINGER_MS = 5_000
const SWEEP_MS = 25

export interface DrainOptions {
  /** Connections left by then are cut. */
  readonly deadlineMs: number
  /** Whether requests came in lately. */
  readonly wasBusy: boolean
  /** Cuts them at once. */
  readonly now: AbortSignal
}

/** Resolves when every connection is gone. */
export async function drainConnections(
  node: Server,
  { deadlineMs, wasBusy, now }: DrainOptions,
): Promise<void> {
  if (!node.listening) return
  if (!now.aborted) await emptyBacklog(node)
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
    Math.min(wasBusy ? BUSY_LINGER_MS : LINGER_MS, deadlineMs / 4),
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

/**
 * A client whose connection waits to be accepted believes it is connected, and closing the port would break it. Node takes
 * a few in each turn: the port stays until a turn brings none, or for so many turns.
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
