/** The requests under way: closing waits for them, and tells their clients not to send another on the same connection. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Requests {
  begin(response: ServerResponse): void
  /** Every answer from now on ends its connection. */
  closeAfter(): void
  /** Whether an answer is under way on this connection. */
  isBusy(socket: Duplex): boolean
  /** Whether one was under way within the last seconds. */
  readonly wereLately: boolean
  /** Resolves when none is under way. */
  ended(): Promise<void>
}

const LATELY_MS = 5_000

export function createRequests(): Requests {
  const underWay = new Set<ServerResponse>()
  /** An answer that waits behind another on its connection hears nothing when that connection closes: we tell it. */
  const bySocket = new WeakMap<Duplex, Set<ServerResponse>>()
  let last = false
  let lastAt = Number.NEGATIVE_INFINITY
  let waiting: (() => void)[] = []

  function end(response: ServerResponse): void {
    bySocket.get(response.req.socket)?.delete(response)
    if (!underWay.delete(response)) return
    lastAt = performance.now()
    if (underWay.size > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  function onClose(this: ServerResponse): void {
    end(this)
  }

  function ofSocket(socket: Duplex): Set<ServerResponse> {
    const known = bySocket.get(socket)
    if (known) return known
    const own = new Set<ServerResponse>()
    bySocket.set(socket, own)
    socket.once('close', () => {
      for (const response of own) end(response)
    })
    return own
  }

  return {
    begin(response) {
      underWay.add(response)
      ofSocket(response.req.socket).add(response)
      if (last) response.shouldKeepAlive = false
      response.once('close', onClose)
    },
    closeAfter() {
      last = true
      // One whose headers are out already leaves an idle connection behind, which is closed as such.
      for (const response of underWay) response.shouldKeepAlive = false
    },
    isBusy: (socket) => (bySocket.get(socket)?.size ?? 0) > 0,
    get wereLately() {
      return underWay.size > 0 || performance.now() - lastAt < LATELY_MS
    },
    ended: () => (underWay.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
